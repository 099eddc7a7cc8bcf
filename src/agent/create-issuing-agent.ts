import { type IssuingAgentOptions, settledOptions } from "./agent-options.js";
import { compileArgumentChecks } from "./arguments.js";
import { expandGrants } from "./grant.js";
import { IssuingAgent } from "./issuing-agent.js";
import { ResourceHandles } from "./resources/resource-handles.js";
import { ResourceNumbersInMemory } from "./resources/resource-numbers.js";
import { checkSkills, operationsOf } from "./skill.js";

/**
 * Creates an issuing agent.
 *
 * @throws TypeError naming the option that is wrong, such as `grants[1].operations[0]`.
 *
 * @example
 * ```ts
 * import { mkdtempSync } from "node:fs";
 * import { tmpdir } from "node:os";
 * import { join } from "node:path";
 * import { createIssuingAgent, createPolicyTable } from "proviso/agent";
 * import { createIssuer, createKeyring, createRevocationList } from "proviso/issuer";
 * import { createStores, openLedger } from "proviso/stores";
 *
 * const revocations = createRevocationList();
 * const database = await createStores(join(mkdtempSync(join(tmpdir(), "proviso-")), "proviso.db"));
 * const ledger = openLedger(database);
 * const agent = await createIssuingAgent({
 *   issuer: createIssuer({
 *     name: "clock-agent",
 *     keys: createKeyring(),
 *     revocations,
 *     grants: [{ id: "clock:read", description: "Tell the time", operations: ["tell"] }],
 *   }),
 *   revocations,
 *   ledger,
 *   policy: createPolicyTable({
 *     rules: [{ principal: "alice", grant: "clock:read", operations: ["tell"] }],
 *   }),
 *   skills: [
 *     {
 *       id: "tell_time",
 *       name: "Tell the time",
 *       description: "The year of the agent's clock",
 *       operation: "tell",
 *       reach: "none",
 *       input: { type: "object", additionalProperties: false },
 *       run: async () => ({ year: 2026 }),
 *     },
 *   ],
 * });
 * const alice = { principal: "alice", invoker: "assistant" };
 *
 * const bare = { skill: "tell_time", arguments: {}, capabilities: [] };
 * const refused = await agent.invoke(alice, bare);
 * refused.ok ? "" : refused.denials[0].code; // => "capability_missing"
 *
 * const request = await agent.request(alice, { grants: ["clock:read"], purpose: "set a watch" });
 * const capabilities = request.ok ? request.capabilities : [];
 * const outcome = await agent.invoke(alice, { ...bare, capabilities });
 * outcome.ok && outcome.result; // => { year: 2026 }
 * await ledger.close();
 * await database.close();
 * ```
 */
export async function createIssuingAgent(options: IssuingAgentOptions): Promise<IssuingAgent> {
  const settled = settledOptions(options);
  const { issuer } = settled;
  if (issuer.grants === undefined) {
    throw new TypeError("issuer: must know its grants: createIssuer({ grants: […] })");
  }
  const skills = checkSkills(options.skills);
  const operations = operationsOf([...skills.values()], settled.operations);
  const grants = expandGrants([...issuer.grants.values()], [...operations.values()]);
  const approved = grants.findIndex(({ approval }) => approval !== undefined);
  const { parties } = settled;
  if (approved >= 0 && parties === undefined) {
    throw new TypeError(`grants[${approved}].approval: needs parties, which keep approvals`);
  }
  const apart = grants.findIndex((grant) => grant.approval && !parties?.approvesBy(grant));
  if (apart >= 0) {
    throw new TypeError(
      `grants[${apart}].approval: parties must know it, to judge decisions by it: createParties({ grants })`,
    );
  }
  return new IssuingAgent({
    ...settled,
    grants: new Map(grants.map((grant) => [grant.id, grant])),
    skills,
    operations,
    checks: await compileArgumentChecks(options.skills),
    handles: new ResourceHandles(issuer, options.resourceNumbers ?? new ResourceNumbersInMemory()),
  });
}
