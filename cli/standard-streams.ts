import { fstatSync, readSync, writeSync } from "node:fs";
import { isErrno } from "../src/system/error-code.js";
import type { Input, Output } from "./context.js";

const STDIN = 0;

// Milliseconds between two tries. A standard stream may be a pipe that another process has made non-blocking.
const RETRY_MILLISECONDS = 5;

/** Standard input. It is read synchronously, since a command has nothing else to do while it waits. */
export const standardInput: Input = {
  get isTerminal() {
    return isTerminal(STDIN);
  },
  read(chunk) {
    for (;;) {
      try {
        return readSync(STDIN, chunk);
      } catch (error) {
        if (!isErrno(error)) throw error;
        // Windows reports the end of a pipe as an error.
        if (error.code === "EOF") return 0;
        if (error.code !== "EAGAIN") throw error;
        pause(RETRY_MILLISECONDS);
      }
    }
  },
};

/**
 * Returns standard output (1) or standard error (2). Each write is synchronous and complete. Node's own streams
 * report a full disk too late to change the exit code, and slow down the start.
 */
export function standardOutput(fd: 1 | 2, columns: () => number | undefined): Output {
  return {
    get isTerminal() {
      return isTerminal(fd);
    },
    get columns() {
      return columns();
    },
    write(bytes) {
      let written = 0;
      while (written < bytes.length) {
        try {
          written += writeSync(fd, bytes, written);
        } catch (error) {
          if (!isErrno(error)) throw error;
          if (error.code !== "EAGAIN") return error;
          pause(RETRY_MILLISECONDS);
        }
      }
      return undefined;
    },
  };
}

/** Returns whether a stream is a terminal. Loads Node's code for terminals only if the stream may be a terminal. */
function isTerminal(fd: number): boolean {
  try {
    if (!fstatSync(fd).isCharacterDevice()) return false;
  } catch {
    return false;
  }
  return process.getBuiltinModule("node:tty").isatty(fd);
}

/** Blocks the process, so that a non-blocking stream can become ready. */
function pause(milliseconds: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, milliseconds);
}
