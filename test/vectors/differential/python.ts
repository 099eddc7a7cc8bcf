import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { PYTHON, path } from "../support.js";

/** A running Python program that answers each line of JSON with one line. */
export interface LinesProgram {
  ask(requests: readonly object[]): Promise<readonly unknown[]>;
  close(): Promise<void>;
}

/** Starts a program of this folder that uses the Python checker. */
export function startPython(name: string): LinesProgram {
  const script = fileURLToPath(new URL(name, import.meta.url));
  const child = spawn(PYTHON, ["-B", script, path("python")], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  // If the program ends too early, the missing lines of its answer show that.
  child.stdin.on("error", () => undefined);
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  return {
    async ask(requests) {
      child.stdin.write(requests.map((request) => `${JSON.stringify(request)}\n`).join(""));
      const answers: unknown[] = [];
      while (answers.length < requests.length) {
        const { value, done } = await lines.next();
        if (done === true) throw new Error(`${name} ended after ${answers.length} answers`);
        answers.push(JSON.parse(value));
      }
      return answers;
    },
    async close() {
      child.stdin.end();
      if (child.exitCode === null) await once(child, "exit");
    },
  };
}
