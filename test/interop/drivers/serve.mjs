import { createInterface } from "node:readline";

/** Bytes of a base64url field; empty if it is absent. */
export const bytes = (text) => Buffer.from(text ?? "", "base64url");

/** Answers each JSON line on stdin with the result of `operations[op]`, or with its error. */
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
