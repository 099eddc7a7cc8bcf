#!/usr/bin/env node
import { homedir } from "node:os";
import { EXIT } from "./exit.js";
import { run } from "./program.js";
import { standardInput, standardOutput } from "./standard-streams.js";

/** Milliseconds that whatever still runs may go on after the command is done. */
const LINGER = 1000;
/** The last comes when the terminal is closed. */
const SIGNALS = { SIGINT: 130, SIGTERM: 143, SIGHUP: 129 } as const;

// Until the command is done: one that ends without an answer has not allowed anything.
process.exitCode = EXIT.fault;
void run(process.argv.slice(2), {
  stdin: standardInput,
  stdout: standardOutput(1, () => process.stdout.columns),
  stderr: standardOutput(2, () => process.stderr.columns),
  // Node's streams cost start-up time, so they are loaded when they are asked for.
  stdio: () =>
    process
      .getBuiltinModule("node:stream")
      .Duplex.from({ readable: process.stdin, writable: process.stdout }),
  env: process.env,
  cwd: workingFolder(),
  userFolder: homedir(),
  untilStopped,
}).then((code) => {
  process.exitCode = code;
  // Nothing that a module of skills left running keeps the process.
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
 * Aborted at the first signal, or when the process that started this one over an IPC channel is gone. A
 * second signal ends the process at once; once the command is done, a timer does.
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
