// The npm package `macaroon` as an implementation for the vectors' `verify` operation (../README.md). The
// package exposes no tags, and lacks the specification's codes. Only its verdicts can be compared.
import { createInterface } from "node:readline";
import macaroon from "macaroon";

/** Returns the macaroons in a text. The package expects JSON that is parsed already. */
function read(text) {
  return macaroon.importMacaroons(/^[ \t\n\r]*[{[]/.test(text) ? JSON.parse(text) : text);
}

/** Accepts every caveat except "unmet". */
function check(caveat) {
  return caveat === "unmet" ? "not met" : null;
}

function verify({ token, key }) {
  if (/^(MDAx|MDAw)/.test(token)) return { unsupported: "the v1 binary form" };
  try {
    const [root, ...discharges] = read(token);
    root.verify(Buffer.from(key, "base64url"), check, discharges);
    return { result: "valid", tags: [] };
  } catch (error) {
    return { result: "invalid", code: `${error?.name}: ${error?.message}` };
  }
}

for await (const line of createInterface({ input: process.stdin })) {
  const request = JSON.parse(line);
  const answer = request.op === "verify" ? verify(request) : { unsupported: request.op };
  process.stdout.write(`${JSON.stringify({ id: request.id, ...answer })}\n`);
}
