import { assertArray } from "../checks/kinds.js";
import { assertMembers, meant } from "../checks/members.js";
import { plainCopy } from "../checks/plain.js";
import { type Grant, grantsById, texts } from "../issuer/grant.js";
import { checkGrantApproval } from "./parties/approval-rules.js";
import type { Operation } from "./skill.js";

/** A grant as an issuing agent offers it, with default values for absent properties. */
export type KnownGrant = Required<Omit<Grant, Optional>> & Pick<Grant, Optional>;

type Optional = "recheck" | "approval";

const MEMBERS = [
  "id",
  "description",
  "operations",
  "attenuable",
  "legacy",
  "requires",
  "recheck",
  "approval",
];

/**
 * Returns the issuer's grants, checked against the agent's operations. `["*"]` of a legacy grant is replaced by
 * all operations.
 *
 * @throws TypeError naming the field that is wrong, such as `grants[1].operations[0]`.
 */
export function expandGrants(
  grants: readonly Grant[],
  skills: readonly Pick<Operation, "operation">[],
): readonly KnownGrant[] {
  const own = plainCopy(grants, "grants");
  assertArray(skills, "skills", "skills");
  const operations = [...new Set(skills.map((skill) => skill.operation))].sort();
  const expanded = Array.isArray(own)
    ? own.map((grant, at) => withoutStar(grant, `grants[${at}]`, operations))
    : own;
  const known = [...grantsById(expanded).values()].map((grant, at) =>
    checkGrant(grant, `grants[${at}]`, operations),
  );
  const ids = known.map(({ id }) => id);
  for (const [at, { id, requires }] of known.entries()) {
    for (const [place, other] of requires.entries()) {
      const where = `grants[${at}].requires[${place}]`;
      if (other === id) throw new TypeError(`${where}: a grant cannot require itself`);
      if (!ids.includes(other)) {
        throw new TypeError(`${where}: there is no grant "${other}"${meant(other, ids)}`);
      }
    }
  }
  return known;
}

function withoutStar(grant: Grant, where: string, all: readonly string[]): Grant {
  const operations: unknown = grant?.operations;
  if (!Array.isArray(operations) || !operations.includes("*")) return grant;
  if (operations.length > 1 || grant.legacy !== true) {
    throw new TypeError(
      `${where}.operations: "*" must be the only operation, and the grant a legacy one`,
    );
  }
  return { ...grant, operations: all };
}

function checkGrant(grant: Grant, where: string, all: readonly string[]): KnownGrant {
  assertMembers(grant, MEMBERS, where);
  const { id, description, operations, legacy = false, requires = [], recheck, approval } = grant;
  const { attenuable = !legacy } = grant;
  if (typeof description !== "string" || description === "") {
    throw new TypeError(`${where}.description: must be a non-empty string`);
  }
  for (const [name, value] of Object.entries({ attenuable, legacy, recheck: recheck ?? false })) {
    if (typeof value !== "boolean") throw new TypeError(`${where}.${name}: must be a boolean`);
  }
  if (operations.length === 0) {
    throw new TypeError(`${where}.operations: there must be at least one`);
  }
  for (const [at, operation] of operations.entries()) {
    if (all.includes(operation)) continue;
    throw new TypeError(
      `${where}.operations[${at}]: no skill has the operation "${operation}"${meant(operation, all)}`,
    );
  }
  const required = texts(requires, `${where}.requires`);
  const known = { id, description, operations, attenuable, legacy, requires: required };
  if (approval !== undefined) checkGrantApproval(approval, `${where}.approval`);
  return {
    ...known,
    ...(recheck === undefined ? {} : { recheck }),
    ...(approval === undefined ? {} : { approval }),
  };
}
