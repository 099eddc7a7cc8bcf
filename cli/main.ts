#!/usr/bin/env node
import { homedir } from "node:os";
import { Duplex } from "node:stream";
import { run } from "./program.js";
import { standardInput, standardOutput } from "./standard-streams.js";

/** Milliseconds that whatever still runs may go on after the command is done. */
const LINGER = 1000;
/** The last comes when the terminal is closed. */
const SIGNALS = { SIGINT: 130, SIGTERM: 143, SIGHUP: 129 } as const;

process.exitCode = await run(process.argv.slice(2), {
  stdin: standardInput,
  stdout: standardOutput(1, () => process.stdout.columns),
  stderr: standardOutput(2, () => process.stderr.columns),
  stdio: () => Duplex.from({ readable: process.stdin, writable: process.stdout }),
  env: process.env,
  cwd: process.cwd(),
  userFolder: homedir(),
  untilStopped,
});

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

// Nothing that a module of skills left running keeps the process.
setTimeout(() => process.exit(), LINGER).unref();
if (process.connected) process.disconnect?.();
