import type { Json, JsonObject } from "../bytes/json.js";
import { assertMembers } from "../caveats/known-members.js";
import type { Caller } from "./caller.js";
import type { Resource } from "./resources/resource.js";

/**
 * How a skill gets at resources: those that its arguments name by handle; *scoped*, all that are left
 * in the capability; or none.
 */
type SkillReach = "named" | "scoped" | "none";

/**
 * A call that has passed every check.
 *
 * @typeParam Arguments - As the skill's schema allows them; {@link createSkill} says what that is.
 */
export interface SkillCall<Arguments = JsonObject> {
  readonly arguments: Arguments;
  /** By handle: the resources that the arguments name, or, of a scoped skill, all that are left. */
  readonly resources: ReadonlyMap<string, Resource>;
  /** Who calls. */
  readonly caller: Caller;
  /** On whose authority: the capability's principal, or the caller's where authority is ambient. */
  readonly principal: string;
  /** Aborted when the caller no longer waits for the answer. */
  readonly signal: AbortSignal;
}

/** What an issuing agent can do, and what that takes. */
export interface Skill {
  /** As callers name it, such as `retrieve_document`. */
  readonly id: string;
  readonly name: string;
  readonly description: string;
  readonly tags?: readonly string[];
  readonly examples?: readonly string[];
  /** The operation that a capability must allow, such as `retrieve`. */
  readonly operation: string;
  readonly reach: SkillReach;
  /** What kind of resource its operation is done to; `item` unless given. */
  readonly target?: "item" | "collection";
  /**
   * JSON Schema (2020-12) of its arguments, an object. A string that takes a handle has the format
   * `resource-handle`.
   */
  readonly input: { readonly [keyword: string]: Json };
  /**
   * Runs the skill. Only the log gets what it throws, but for a {@link SkillInputError}, whose message
   * the caller gets.
   */
  run(call: SkillCall): Promise<Json>;
}

/**
 * A skill throws it for arguments that its schema cannot rule out, such as a text that is too long to
 * keep. The caller gets the message.
 */
export class SkillInputError extends Error {
  override readonly name = "SkillInputError";
}

/** Compares names, since a module of skills may have another copy of this package. */
export function isSkillInputError(error: unknown): error is SkillInputError {
  return error instanceof Error && error.name === "SkillInputError";
}

const ID = /^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$/;

type Rule = readonly [holds: (value: unknown) => boolean, expected: string];

/** What each member of a skill must be. */
const RULES: { readonly [Name in keyof Skill]-?: Rule } = {
  id: [(id) => isText(id) && ID.test(id), '1 to 64 letters, digits, "_", "." or "-"'],
  name: [isText, "a text"],
  description: [isText, "a text"],
  tags: [isAbsentOr(isTexts), "an array of texts"],
  examples: [isAbsentOr(isTexts), "an array of texts"],
  operation: [(name) => isText(name) && name !== "*", "the name of one operation"],
  reach: [isOneOf("named", "scoped", "none"), '"named", "scoped" or "none"'],
  target: [isAbsentOr(isOneOf("item", "collection")), '"item" or "collection"'],
  input: [isObjectSchema, 'a JSON Schema with "type": "object"'],
  run: [(run) => typeof run === "function", "a function"],
};

/**
 * Checks the skills of an agent.
 *
 * @returns The skills by id.
 * @throws TypeError naming the field that is wrong, such as `skills[2].operation`.
 */
export function checkSkills(skills: readonly Skill[]): ReadonlyMap<string, Skill> {
  if (!Array.isArray(skills)) throw new TypeError("skills: must be an array");
  const known = new Map<string, Skill>();
  for (const [at, skill] of skills.entries()) {
    const where = `skills[${at}]`;
    checkMembers(skill, where);
    if (known.has(skill.id)) throw new TypeError(`${where}.id: "${skill.id}" is taken`);
    const sharing = [...known.values()].find(
      (other) => other.operation === skill.operation && targetOf(other) !== targetOf(skill),
    );
    if (sharing !== undefined) {
      throw new TypeError(
        `${where}: "${sharing.id}" has the operation "${skill.operation}" too, but on something else`,
      );
    }
    known.set(skill.id, skill);
  }
  return known;
}

function checkMembers(skill: unknown, where: string): void {
  if (typeof skill !== "object" || skill === null) throw new TypeError(`${where}: not an object`);
  assertMembers(skill, Object.keys(RULES), where);
  for (const [name, [holds, expected]] of Object.entries(RULES)) {
    const value: unknown = Reflect.get(skill, name);
    if (holds(value)) continue;
    const what = value === undefined ? "is missing; it must be" : "must be";
    throw new TypeError(`${where}.${name}: ${what} ${expected}`);
  }
}

function isText(value: unknown): value is string {
  return typeof value === "string" && value !== "";
}

function isTexts(value: unknown): boolean {
  return Array.isArray(value) && value.every(isText);
}

function isOneOf(...names: readonly string[]): Rule[0] {
  return (value) => typeof value === "string" && names.includes(value);
}

function isAbsentOr(holds: Rule[0]): Rule[0] {
  return (value) => value === undefined || holds(value);
}

function isObjectSchema(value: unknown): boolean {
  return typeof value === "object" && value !== null && Reflect.get(value, "type") === "object";
}

/** What a skill's operation is done to. */
export function targetOf({ reach, target = "item" }: Skill): "item" | "collection" | "none" {
  return reach === "none" ? "none" : target;
}
