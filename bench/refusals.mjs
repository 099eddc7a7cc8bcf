// What a refusal costs beside an allowance, at every limit of the specification: the same token, with a
// call that it allows and with two that it refuses. One of these has names that nearly match, for which
// there may be a suggestion; the names of the other are too long for one, so that the difference is what
// suggestions cost. Prints medians of the rounds, in one run and in turns.
// Goal: a refusal costs at most three times an allowance. Run with: npm run build && node bench/refusals.mjs
import { mkdtempSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createIssuingAgent, createPolicyTable } from "proviso/agent";
import { createIssuer, createKeyring } from "proviso/issuer";
import { createStores, openLedger } from "proviso/stores";
import { attenuated, cases, FAR, fill, GRANT, issuer, revocations } from "./refusal-cases.mjs";

const { version } = createRequire(import.meta.url)("../package.json");
const ROUNDS = 201;
/** Milliseconds of one round, at least: short, so that other work on the machine spoils few of them. */
const ROUND = 1;
const GOAL = 3;
const PRESENTED = 8;

/** @param {number[]} values */
function median(values) {
  return [...values].sort((a, b) => a - b)[values.length >> 1] ?? 0;
}

/**
 * Microseconds of each of some operations, in turns.
 * @param {readonly (() => unknown)[]} operations
 */
async function measure(operations) {
  const timed = async (/** @type {() => unknown} */ operation, /** @type {number} */ count) => {
    const began = performance.now();
    for (let done = 0; done < count; done++) await operation();
    return performance.now() - began;
  };
  const measured = [];
  for (const operation of operations) {
    let count = 1;
    while ((await timed(operation, count)) < ROUND) count *= 2;
    measured.push({ operation, count, times: /** @type {number[]} */ ([]) });
  }
  for (let round = 0; round < ROUNDS; round++) {
    for (const { operation, count, times } of measured) {
      times.push(((await timed(operation, count)) * 1000) / count);
    }
  }
  return measured.map(({ times }) => median(times));
}

/** @param {string} what @param {readonly string[]} columns */
function line(what, columns) {
  const widths = [12, 17, 8, 17, 8];
  console.log(what.padEnd(54) + columns.map((text, at) => text.padStart(widths[at] ?? 0)).join(""));
}

/** @param {string} what @param {readonly number[]} medians */
function print(what, [allowed = 0, near = 0, far = 0]) {
  const us = (/** @type {number} */ time) => `${time.toFixed(1)} µs`;
  const ratio = (/** @type {number} */ time) => (time / allowed).toFixed(2);
  const over = Math.max(near, far) > GOAL * allowed ? ["  over the goal"] : [];
  line(what, [us(allowed), us(near), ratio(near), us(far), ratio(far), ...over]);
}

/** Presented capabilities that are all refused, beside as many calls with one of them each. */
async function throughTheGate() {
  const home = mkdtempSync(join(tmpdir(), "proviso-bench-"));
  const database = await createStores(join(home, "proviso.db"));
  const ledger = openLedger(database);
  try {
    const agent = await createIssuingAgent({
      ...{ revocations, ledger },
      issuer: createIssuer({
        ...{ name: "bench", keys: createKeyring(), revocations },
        grants: [{ id: GRANT, description: "Read", operations: ["get"] }],
      }),
      policy: createPolicyTable({ rules: [{ principal: "alice", grant: GRANT, operations: "*" }] }),
      skills: [
        {
          ...{ id: "get", name: "Get", description: "Get", operation: "get", reach: "none" },
          input: { type: "object" },
          run: async () => null,
        },
      ],
    });
    const alice = { principal: "alice", invoker: "assistant" };
    const values = fill("v", 24, (all) => ({ constraints: { a: { in: all } } }));
    /** @type {{ token: string }[]} */
    const all = [];
    while (all.length < PRESENTED) {
      const issued = await agent.request(alice, { grants: [GRANT] });
      const token = (issued.ok ? issued.capabilities[0]?.token : undefined) ?? "";
      all.push({ token: attenuated(token, { constraints: { a: { in: values } } }) });
    }
    /** @param {{ token: string }[]} capabilities @param {string} a @param {boolean} allowed */
    const clear = async (capabilities, a, allowed) => {
      const answer = await agent.clear(alice, { skill: "get", arguments: { a }, capabilities });
      if (answer.allowed !== allowed) throw new Error(`the gate answers ${answer.allowed}`);
    };
    const medians = await measure([
      async () => {
        for (const one of all) await clear([one], values[0] ?? "", true);
      },
      () => clear(all, (values[0] ?? "").replace("v0", "v9"), false),
      () => clear(all, FAR, false),
    ]);
    print(`${PRESENTED} capabilities in a call, beside ${PRESENTED} calls`, medians);
  } finally {
    await ledger.close();
    await database.close();
    rmSync(home, { recursive: true, force: true });
  }
}

console.log(
  `Node ${process.version}, proviso ${version}, medians of ${ROUNDS} rounds in turns; ` +
    `goal: a refusal takes at most ${GOAL} times as long`,
);
line("", ["allowed", "refused nearly", "ratio", "refused by far", "ratio"]);
for (const [what, token, calls] of cases()) {
  for (const [at, one] of calls.entries()) {
    if (issuer.authorize(token, one).allowed !== (at === 0)) throw new Error(`${what}: call ${at}`);
  }
  print(what, await measure(calls.map((one) => () => issuer.authorize(token, one))));
}
await throughTheGate();
