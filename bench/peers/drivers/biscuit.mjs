// Biscuit behind the protocol of ../children.mjs: an authority block with the grant, and one block of checks for each
// hop.
import { createInterface } from "node:readline";
import {
  Authorizer,
  Biscuit,
  BiscuitBuilder,
  BlockBuilder,
  KeyPair,
} from "@biscuit-auth/biscuit-wasm";

const CHECKS = [
  'check if operation("retrieve")',
  'check if handle("rh_6s1b7kqzm0f2xw9d4c8tyu"); check if invoker("summariser")',
  'check if argument("format", "text"); check if limit($n), $n >= 1, $n <= 50',
  'check if time($t), $t < 2099-01-01T00:00:00Z; check if audience("documents-agent")',
];
const CALL =
  'operation("retrieve"); handle("rh_6s1b7kqzm0f2xw9d4c8tyu"); invoker("summariser"); ' +
  'argument("format", "text"); limit(20); audience("documents-agent"); ' +
  'allow if grant("documents:read")';
const root = new KeyPair();
/** @type {string[][]} */
const pools = [];

/** @param {number} hops */
function make(hops) {
  const builder = new BiscuitBuilder();
  builder.addCode(
    'grant("documents:read"); principal("alice@example.com"); ' +
      'check if operation($o), ["retrieve", "search"].contains($o); ' +
      'check if handle($h), ["rh_6s1b7kqzm0f2xw9d4c8tyu", "rh_9f3k2mzq7x0vb5n1d8rwap"].contains($h); ' +
      "check if time($t), $t < 2099-01-01T00:00:00Z",
  );
  let token = builder.build(root.getPrivateKey());
  for (let hop = 1; hop < hops; hop++) {
    const block = new BlockBuilder();
    block.addCode(CHECKS[(hop - 1) % CHECKS.length] ?? "");
    token = token.appendBlock(block);
  }
  return token.toBase64();
}

/** @param {string} text */
function verify(text) {
  const token = Biscuit.fromBase64(text, root.getPublicKey());
  const authorizer = new Authorizer();
  authorizer.addCode(`time(${new Date().toISOString().slice(0, 19)}Z); ${CALL}`);
  authorizer.addToken(token);
  authorizer.authorizeWithLimits({ max_facts: 1000, max_iterations: 100, max_time_micro: 1e6 });
  authorizer.free();
  token.free();
}

for await (const line of createInterface({ input: process.stdin })) {
  const [op, first = "", second = ""] = line.split(" ");
  if (op === "make") {
    pools.push(Array.from({ length: Number(second) }, () => make(Number(first))));
    console.log(pools.length - 1);
  } else if (op === "bytes") console.log(pools[Number(first)]?.[0]?.length);
  else {
    const tokens = pools[Number(first)] ?? [];
    const began = performance.now();
    let done = 0;
    while (performance.now() - began < Number(second)) verify(tokens[done++ % tokens.length] ?? "");
    console.log(((performance.now() - began) * 1e6) / done);
  }
}
