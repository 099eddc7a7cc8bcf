#!/usr/bin/env node
import { homedir } from "node:os";
import { EXIT } from "./exit.js";
import { run } from "./program.js";
import { standardInput, standardOutput } from "./standard-streams.js";

/** Milliseconds that remaining work may take after the command is done. */
const LINGER = 1000;
/** Exit codes by signal. SIGHUP is sent when the terminal is closed. */
const SIGNALS = { SIGINT: 130, SIGTERM: 143, SIGHUP: 129 } as const;

// A command that ends without an answer must not look like a permission. Until the command is done, the exit
// code is that of a failure.
process.exitCode = EXIT.fault;
void run(process.argv.slice(2), {
  stdin: standardInput,
  stdout: standardOutput(1, () => process.stdout.columns),
  stderr: standardOutput(2, () => process.stderr.columns),
  // The streams are created on demand, since Node's streams slow down the start.
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
  // A skills module may have left work running, which must not keep the process alive.
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
 * Returns an AbortSignal that aborts at the first signal to the process, or when a parent process that is connected by
 * an IPC channel disconnects. A second signal ends the process at once.
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
