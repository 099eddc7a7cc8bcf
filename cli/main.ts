#!/usr/bin/env node
import { homedir } from "node:os";
import { EXIT } from "./exit.js";
import { run } from "./program.js";
import { standardInput, standardOutput } from "./standard-streams.js";

/** Milliseconds that remaining work may take after the command is done. */
const LINGER = 1000;
/** Exit codes by signal. SIGHUP is sent when the terminal is closed. */
const SIGNALS = { SIGINT: 130, SIGTERM: 143, SIGHUP: 129 } as const;

// The exit code until the command is done: a command that ends without an answer has not allowed anything.
process.exitCode = EXIT.fault;
void run(process.argv.slice(2), {
  stdin: standardInput,
  stdout: standardOutput(1, () => process.stdout.columns),
  stderr: standardOutput(2, () => process.stderr.columns),
  // Loaded on demand, since Node's streams slow down the start.
  stdio: () =>
    process
      .getBuiltinModule("node:stream")
      .Duplex.from({ readable: process.stdin, writable: process.stdout }),
  program: process.argv.slice(0, 2),
  env: process.env,
  cwd: workingFolder(),
  userFolder: homedir(),
  untilStopped,
}).then((code) => {
  process.exitCode = code;
  // Work left running by a module of skills must not keep the process alive.
  setTimeout(() => process.exit(), LINGER).unref();
  if (process.connected) process.disconnect?.();
});

function workingFolder(): string | undefined {
  try {
    return process.cwd();
  } catch {
    return undefined;
  }
}

/**
 * Returns a signal that is aborted by the first signal to the process, or when the parent process of an IPC
 * channel is gone. A second signal ends the process at once; after the command is done, a timer does.
 */
function untilStopped(): AbortSignal {
  const stop = new AbortController();
  for (const [signal, code] of Object.entries(SIGNALS)) {
    process.on(signal, () => {
      if (stop.signal.aborted) process.exit(code);
      stop.abort();
    });
  }
  if (process.connected) process.once("disconnect", () => stop.abort());
  return stop.signal;
}
