import { createInterface } from "node:readline";

/** Returns the bytes of a base64url field; no bytes if it is absent. */
export const bytes = (text) => Buffer.from(text ?? "", "base64url");

/**
 * Answers each line of JSON on standard input with the result of `operations[op]`, or with the error that it
 * throws.
 */
export async function serve(operations) {
  for await (const line of createInterface({ input: process.stdin })) {
    let answer;
    try {
      const request = JSON.parse(line);
      answer = { ok: true, ...operations[request.op](request) };
    } catch (error) {
      answer = { ok: false, error: String(error?.message ?? error) };
    }
    const output = JSON.stringify(answer)
      .replace(/\u2028/g, "\\u2028")
      .replace(/\u2029/g, "\\u2029");
    process.stdout.write(`${output}\n`);
  }
}
