// Measures the cost of writing the ledger: `authorize` with a note of its outcome, compared with `authorize` alone. The
// measured time includes every batch that the notes cause.
import { mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setImmediate as turn } from "node:timers/promises";
import { attenuate } from "proviso";
import { createIssuer, createKeyring, createRevocationList } from "proviso/issuer";
import { createStores, openLedger } from "proviso/stores";
import { inTurns, microseconds, ratio, rounded, timed } from "../measure.mjs";

/** @import { Figures } from "../measure.mjs" */

const [ALONE, DESCRIBED] = ["authorize", "authorize, its event described"];
const [NOTED, HANDED] = ["authorize, its event noted and written", "an event handed over"];
const COUNT = 2048;
/** Number of capabilities, as in an agent with many tasks at once. */
const TOKENS = 64;

/** An issuer, and tokens of three hops. */
function tokensOf() {
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
  return { issuer, tokens };
}

/**
 * Returns milliseconds per operation, including work that is still pending after the last operation.
 * @param {(at: number) => void} operation
 * @param {() => Promise<void>} [settle]
 */
async function cost(operation, settle = async () => {}) {
  await turn();
  const start = performance.now();
  for (let i = 0; i < COUNT; i++) {
    operation(i);
    // Lets the event loop turn, so that batches are written as between real requests.
    if (i % 64 === 63) await turn();
  }
  await settle();
  return (performance.now() - start) / COUNT;
}

/** @param {ReturnType<typeof tokensOf>} all @param {number} at */
function authorize({ issuer, tokens }, at) {
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

/** @param {{ quick: boolean }} size @returns {Promise<Figures[]>} */
export async function run({ quick }) {
  const all = tokensOf();
  const folder = mkdtempSync(join(tmpdir(), "proviso-bench-"));
  try {
    const path = join(folder, "proviso.db");
    const database = await createStores(path);
    const ledger = openLedger(database);
    const sample = eventOf(authorize(all, 0));
    const write = () => ledger.flush();
    // Writes everything that was handed over before the clock is read again.
    const handOver = async () => {
      let spent = 0;
      for (let i = 0; i < COUNT; i++) {
        const start = performance.now();
        ledger.note(sample);
        spent += performance.now() - start;
        if (i % 256 === 255) await write();
      }
      return spent / COUNT;
    };
    const contenders = [
      timed(ALONE, () => cost((at) => void authorize(all, at))),
      timed(DESCRIBED, () => cost((at) => void eventOf(authorize(all, at)))),
      timed(NOTED, () => cost((at) => ledger.note(eventOf(authorize(all, at))), write)),
      timed(HANDED, handOver),
    ];
    const rounds = await inTurns(contenders, { rounds: quick ? 5 : 21, milliseconds: 0 });
    const events = (await ledger.list()).length;
    await ledger.close();
    await database.close();
    const times = ratio(rounds, NOTED, ALONE) ?? Number.NaN;
    return [
      {
        title: "What the ledger costs a decision",
        about: `Microseconds of a decision, 3 hops, without HTTP: ${COUNT} in a round, each with its batches.`,
        columns: ["", "µs"],
        rows: [
          ...contenders.map(({ name }) => [name, microseconds(rounds, name)]),
          ["bytes of the database for each event", Math.round(statSync(path).size / events)],
        ],
        ratios: { "noted in the ledger: time to the decision alone": rounded(times) },
      },
    ];
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
