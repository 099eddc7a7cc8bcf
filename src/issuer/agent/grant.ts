import { assertMembers, meant, texts } from "./definition.js";
import type { Skill } from "./skill.js";

/** What an issuing agent offers to whoever asks. */
export interface Grant {
  /** Such as `documents:read`. */
  readonly id: string;
  readonly description: string;
  /** The operations it can give, each of them one of a skill; `["*"]` for all that skills have. */
  readonly operations: readonly string[];
  /** Whether holders may narrow its capabilities and pass them on; unless given, if it is not legacy. */
  readonly attenuable?: boolean;
  /**
   * A wrapper around something that knows no capabilities: it may be asked for without saying which
   * resources, and is marked wherever it is used.
   */
  readonly legacy?: boolean;
  /** Grants that have to be asked for together with this one. */
  readonly requires?: readonly string[];
  /**
   * Whether, at each call, resources must still match the query of the request that named them. Unless
   * given, they must where the principal's policy under this grant has conditions on fields.
   */
  readonly recheck?: boolean;
}

/** A grant whose operations are all named. */
export interface KnownGrant extends Required<Omit<Grant, "recheck">>, Pick<Grant, "recheck"> {
  /** Whether it was given as `["*"]`. */
  readonly everything: boolean;
}

const MEMBERS = ["id", "description", "operations", "attenuable", "legacy", "requires", "recheck"];
const ID = /^[\x21-\x7e]{1,128}$/;

/**
 * Checks the grants of an agent against its skills.
 *
 * @throws TypeError naming the field that is wrong, such as `grants[1].operations[0]`.
 *
 * @example
 * ```ts
 * import { checkGrants } from "proviso/issuer";
 *
 * const skill = {
 *   id: "read_note",
 *   name: "Read a note",
 *   description: "The text of one note",
 *   operation: "read",
 *   reach: "named",
 *   input: { type: "object" },
 *   run: async () => null,
 * };
 * const grants = [{ id: "notes:read", description: "Read notes", operations: ["reed"] }];
 * try {
 *   checkGrants(grants, [skill]);
 * } catch (error) {
 *   String(error); // => 'TypeError: grants[0].operations[0]: no skill has the operation "reed"; did you mean "read"?'
 * }
 * ```
 */
export function checkGrants(
  grants: readonly Grant[],
  skills: readonly Skill[],
): ReadonlyMap<string, KnownGrant> {
  if (!Array.isArray(grants) || grants.length === 0) {
    throw new TypeError("grants: there must be at least one");
  }
  const operations = [...new Set(skills.map((skill) => skill.operation))].sort();
  const known = new Map<string, KnownGrant>();
  for (const [at, grant] of grants.entries()) {
    const checked = checkGrant(grant, `grants[${at}]`, operations);
    if (known.has(checked.id)) throw new TypeError(`grants[${at}].id: "${checked.id}" is taken`);
    known.set(checked.id, checked);
  }
  for (const [at, { id, requires }] of [...known.values()].entries()) {
    for (const [place, other] of requires.entries()) {
      const where = `grants[${at}].requires[${place}]`;
      if (other === id) throw new TypeError(`${where}: a grant can not require itself`);
      if (!known.has(other)) {
        throw new TypeError(
          `${where}: there is no grant "${other}"${meant(other, [...known.keys()])}`,
        );
      }
    }
  }
  return known;
}

function checkGrant(grant: Grant, where: string, known: readonly string[]): KnownGrant {
  if (typeof grant !== "object" || grant === null) throw new TypeError(`${where}: not an object`);
  assertMembers(grant, MEMBERS, where);
  const { id, description, operations, legacy = false, requires = [], recheck } = grant;
  const { attenuable = !legacy } = grant;
  if (typeof id !== "string" || !ID.test(id)) {
    throw new TypeError(`${where}.id: must be 1 to 128 printable ASCII characters without spaces`);
  }
  if (typeof description !== "string" || description === "") {
    throw new TypeError(`${where}.description: must be a text`);
  }
  if (typeof attenuable !== "boolean")
    throw new TypeError(`${where}.attenuable: must be a boolean`);
  if (typeof legacy !== "boolean") throw new TypeError(`${where}.legacy: must be a boolean`);
  if (recheck !== undefined && typeof recheck !== "boolean") {
    throw new TypeError(`${where}.recheck: must be a boolean`);
  }
  const named = texts(operations, `${where}.operations`);
  if (named.length === 0) throw new TypeError(`${where}.operations: there must be at least one`);
  const everything = named.includes("*");
  if (everything && (named.length > 1 || !legacy)) {
    throw new TypeError(`${where}.operations: "*" stands alone, and only in a legacy grant`);
  }
  for (const [at, operation] of named.entries()) {
    if (everything || known.includes(operation)) continue;
    throw new TypeError(
      `${where}.operations[${at}]: no skill has the operation "${operation}"${meant(operation, known)}`,
    );
  }
  return {
    ...{ id, description, attenuable, legacy, everything },
    operations: everything ? known : named,
    requires: texts(requires, `${where}.requires`),
    ...(recheck === undefined ? {} : { recheck }),
  };
}
