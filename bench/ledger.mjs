// What writing the ledger costs: `authorize` with a note of its outcome beside `authorize` alone, in
// one run and in turns, with every batch that the notes lead to in the time that is measured. Prints
// medians of the rounds. Run with: npm run bench
import { mkdtempSync, rmSync, statSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setImmediate as turn } from "node:timers/promises";
import { attenuate } from "proviso";
import { createIssuer, createKeyring, createRevocationList } from "proviso/issuer";
import { createStores, openLedger } from "proviso/stores";

const { version } = createRequire(import.meta.url)("../package.json");

const ROUNDS = 41;
const COUNT = 2048;
/** Of so many capabilities, as an agent with many tasks at once sees them. */
const TOKENS = 64;

/** @param {number[]} values */
function median(values) {
  return [...values].sort((a, b) => a - b)[values.length >> 1] ?? 0;
}

const issuer = createIssuer({
  name: "bench",
  keys: createKeyring(),
  revocations: createRevocationList(),
});
const tokens = Array.from({ length: TOKENS }, () => {
  let { token, hop } = issuer.issue((draft) => ({
    grant: "documents:read",
    principal: "alice@example.com",
    operations: ["retrieve", "search"],
    resourceHandles: [...draft.handles([1, 2]).values()],
  })).capability;
  const handle = hop.resourceHandles?.[0] ?? "";
  for (const narrower of [{ operations: ["retrieve"] }, { resourceHandles: [handle] }]) {
    const result = attenuate(token, narrower);
    if (!result.ok) throw new Error("not narrowed");
    token = result.token;
  }
  return { token, handle };
});

/**
 * Microseconds that one of many takes, with what they leave to be done.
 * @param {(at: number) => void} operation
 * @param {() => Promise<void>} [settle]
 */
async function cost(operation, settle = async () => {}) {
  await turn();
  const start = performance.now();
  for (let i = 0; i < COUNT; i++) {
    operation(i);
    // The loop's turns, at which batches are written, as requests come in.
    if (i % 64 === 63) await turn();
  }
  await settle();
  return ((performance.now() - start) * 1000) / COUNT;
}

/** @param {number} at */
function authorize(at) {
  const { token, handle } = tokens[at % TOKENS] ?? { token: "", handle: "" };
  const decision = issuer.authorize(token, {
    grant: "documents:read",
    operation: "retrieve",
    resourceHandles: [handle],
  });
  if (!decision.allowed) throw new Error("refused");
  return { capability: decision.capability, handle };
}

/** @param {ReturnType<typeof authorize>} outcome */
function eventOf({ capability, handle }) {
  return {
    kind: /** @type {const} */ ("invocation"),
    at: new Date().toISOString(),
    decision: /** @type {const} */ ("allowed"),
    principal: "alice@example.com",
    invoker: "summariser",
    capability: capability.id,
    grant: capability.grant,
    authority: /** @type {const} */ ("capability"),
    skill: "retrieve_document",
    operation: "retrieve",
    handles: [handle],
    path: capability.hops.map(({ revocationId, hop }) =>
      hop === undefined ? { revocationId } : { revocationId, hop },
    ),
  };
}

const folder = mkdtempSync(join(tmpdir(), "proviso-bench-"));
try {
  const path = join(folder, "proviso.db");
  const database = await createStores(path);
  const ledger = openLedger(database);
  const sample = eventOf(authorize(0));
  const write = () => ledger.flush();

  const measures = {
    alone: () => cost((at) => void authorize(at)),
    described: () => cost((at) => void eventOf(authorize(at))),
    noted: () => cost((at) => ledger.note(eventOf(authorize(at))), write),
    handed: async () => {
      // Only handing over: what is written is written before the clock is read again.
      let spent = 0;
      for (let i = 0; i < COUNT; i++) {
        const start = performance.now();
        ledger.note(sample);
        spent += performance.now() - start;
        if (i % 256 === 255) await write();
      }
      return (spent * 1000) / COUNT;
    },
  };
  /** @type {Record<string, number[]>} */
  const all = { alone: [], described: [], noted: [], handed: [] };
  const added = [];
  const written = [];
  for (const measure of Object.values(measures)) await measure();
  for (let round = 0; round < ROUNDS; round++) {
    /** @type {Record<string, number>} */
    const now = {};
    for (const [name, measure] of Object.entries(measures)) {
      const taken = await measure();
      now[name] = taken;
      all[name]?.push(taken);
    }
    const { alone = 0, described = 0, noted = 0 } = now;
    added.push(noted / alone - 1);
    written.push((noted - described) / noted);
  }
  const events = (await ledger.list()).length;
  await ledger.close();
  await database.close();

  const us = (/** @type {string} */ name) => `${median(all[name] ?? []).toFixed(1)} µs`;
  const percent = (/** @type {number[]} */ values) => `${(median(values) * 100).toFixed(1)} %`;
  console.log(
    `Node ${process.version}, proviso ${version}, medians of ${ROUNDS} rounds of ${COUNT}, each with its batches`,
  );
  console.log(
    `authorize, 3 hops: ${us("alone")}; with its event noted and written: ${us("noted")}`,
  );
  console.log(
    `that is ${percent(added)} more, and ${percent(written)} of the whole is writing batches; ` +
      `handing an event over takes ${us("handed")}`,
  );
  const times = (median(added) / 0.05).toFixed(1);
  console.log(`so it is 5 % of an invocation that takes ${times} times as long as authorize`);
  console.log(`${events} events took ${Math.round(statSync(path).size / events)} bytes each`);
} finally {
  rmSync(folder, { recursive: true, force: true });
}
