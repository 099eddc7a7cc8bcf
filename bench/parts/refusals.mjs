// Measures the cost of a refusal compared with an allowance, at every limit of the specification. Each case has one
// token, one call that the token allows and two that it refuses. In one refused call the names nearly match, so the
// refusal may contain a suggestion. In the other the names are too long for a suggestion. The difference is the cost of
// suggestions.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createIssuingAgent, createPolicyTable } from "proviso/agent";
import { createIssuer, createKeyring } from "proviso/issuer";
import { createStores, openLedger } from "proviso/stores";
import { here, inTurns, microseconds, ratio, rounded } from "../measure.mjs";
import { attenuated, cases, FAR, fill, GRANT, issuer, revocations } from "../refusal-cases.mjs";

/** @import { Figures } from "../measure.mjs" */

const PRESENTED = 8;
const [ALLOWED, NEARLY, FAR_OFF] = ["allowed", "refused nearly", "refused by far"];

/**
 * Measures one row: the allowance, and the relative times of both refusals.
 * @param {string} what
 * @param {readonly (() => unknown)[]} operations
 * @param {boolean} quick
 */
async function rowOf(what, operations, quick) {
  const names = [ALLOWED, NEARLY, FAR_OFF];
  const contenders = operations.map((operation, at) => here(names[at] ?? "", operation));
  const rounds = await inTurns(contenders, { rounds: quick ? 5 : 21, milliseconds: 1 });
  const [near, far] = [NEARLY, FAR_OFF].map((name) => rounded(ratio(rounds, name, ALLOWED) ?? 0));
  return { row: [what, microseconds(rounds, ALLOWED), near ?? 0, far ?? 0], near, far };
}

/**
 * Compares one refused call that presents several capabilities with the same number of refused calls that present one
 * capability each.
 */
async function throughTheGate(/** @type {boolean} */ quick) {
  const home = mkdtempSync(join(tmpdir(), "proviso-bench-"));
  const database = await createStores(join(home, "proviso.db"));
  const ledger = openLedger(database);
  try {
    const agent = await createIssuingAgent({
      revocations,
      ledger,
      issuer: createIssuer({
        name: "bench",
        keys: createKeyring(),
        revocations,
        cache: false,
        grants: [{ id: GRANT, description: "Read", operations: ["get"] }],
      }),
      policy: createPolicyTable({ rules: [{ principal: "alice", grant: GRANT, operations: "*" }] }),
      skills: [
        {
          id: "get",
          name: "Get",
          description: "Get",
          operation: "get",
          reach: "none",
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
    const operations = [
      async () => {
        for (const one of all) await clear([one], values[0] ?? "", true);
      },
      () => clear(all, (values[0] ?? "").replace("v0", "v9"), false),
      () => clear(all, FAR, false),
    ];
    const what = `${PRESENTED} capabilities in a call, beside ${PRESENTED} calls`;
    return await rowOf(what, operations, quick);
  } finally {
    await ledger.close();
    await database.close();
    rmSync(home, { recursive: true, force: true });
  }
}

/** @param {{ quick: boolean }} size @returns {Promise<Figures[]>} */
export async function run({ quick }) {
  const measured = [];
  for (const [what, token, calls] of cases()) {
    for (const [at, one] of calls.entries()) {
      if (issuer.authorize(token, one).allowed !== (at === 0)) {
        throw new Error(`${what}: call ${at}`);
      }
    }
    const operations = calls.map((one) => () => issuer.authorize(token, one));
    measured.push(await rowOf(what, operations, quick));
  }
  measured.push(await throughTheGate(quick));
  const worst = Math.max(...measured.flatMap(({ near = 0, far = 0 }) => [near, far]));
  return [
    {
      title: "What a refusal costs at the limits",
      about:
        "Microseconds of an allowance by an issuer that remembers nothing, and ratios to it: names that nearly match, " +
        "for which there can be a suggestion, and names that are too long for one.",
      columns: ["at the limit", ALLOWED, NEARLY, FAR_OFF],
      rows: measured.map(({ row }) => row),
      ratios: { "refused at the limits, the worst: time to allowed": worst },
    },
  ];
}
