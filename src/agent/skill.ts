import { isObject, type Json, type JsonObject } from "../bytes/json.js";
import { assertKnown } from "../checks/members.js";
import type { Caller } from "./caller.js";
import type { Resource } from "./resources/resource.js";

/**
 * The resources that a skill can use: those that its arguments name (`named`), all those of the capability
 * (`scoped`), or none.
 */
type SkillReach = "named" | "scoped" | "none";

/**
 * A call that has passed every check.
 *
 * @typeParam Arguments - The arguments that the skill's schema allows, as derived by {@link createSkill}.
 */
export interface SkillCall<Arguments = JsonObject> {
  readonly arguments: Arguments;
  /** The resources that the arguments name, by handle. For a scoped skill, all resources of the capability. */
  readonly resources: ReadonlyMap<string, Resource>;
  /** The authenticated caller of the skill. */
  readonly caller: Caller;
  /** The capability's principal; with ambient authority, the caller's principal. */
  readonly principal: string;
  /** Aborted when the result is no longer needed: the call was cancelled, timed out, or has been answered. */
  readonly signal: AbortSignal;
}

/**
 * An operation on resources. An issuing agent performs it, or code outside the agent that asks the agent for
 * clearance.
 */
export interface Operation {
  /** The operation that a capability must allow, such as `retrieve`. */
  readonly operation: string;
  readonly reach: SkillReach;
  /** The kind of resource that the operation is performed on; `item` unless given. */
  readonly target?: "item" | "collection";
}

/** The strongest effect of a skill; `read` if it changes nothing. */
export type SkillEffect = "read" | "write" | "delete" | "administer";

/** A skill of an issuing agent, and what it requires. */
export interface Skill extends Operation {
  /** The skill's name for callers, such as `retrieve_document`. */
  readonly id: string;
  readonly name: string;
  readonly description: string;
  readonly tags?: readonly string[];
  readonly examples?: readonly string[];
  /**
   * JSON Schema (2020-12) of the arguments, which are an object. A string that takes a handle has the format
   * `resource-handle`.
   */
  readonly input: { readonly [keyword: string]: Json };
  /** JSON Schema (2020-12) of the result. */
  readonly output?: { readonly [keyword: string]: Json };
  /** The skill's strongest effect. A skill without an effect is treated as one that changes data. */
  readonly effect?: SkillEffect;
  /**
   * Runs the skill. The caller learns only the message of a {@link SkillInputError}; other errors are logged.
   * The result is converted to JSON when `run` returns, as by `JSON.stringify`. If the conversion fails, the call fails
   * with an error that says that the skill has run.
   */
  run(call: SkillCall): Promise<Json>;
}

/** Thrown by a skill for arguments that its schema cannot exclude. The caller gets the error's message. */
export class SkillInputError extends Error {
  override readonly name = "SkillInputError";
}

/** Tests the name rather than the class, since a module of skills may load another copy of this package. */
export function isSkillInputError(error: unknown): error is SkillInputError {
  return error instanceof Error && error.name === "SkillInputError";
}

const ID = /^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$/;

type Rule = readonly [holds: (value: unknown) => boolean, expected: string];

type Rules<Of> = { readonly [Name in keyof Of]-?: Rule };

const OPERATION_RULES: Rules<Operation> = {
  operation: [(name) => isText(name) && name !== "*", "the name of one operation"],
  reach: [isOneOf("named", "scoped", "none"), '"named", "scoped" or "none"'],
  target: [isAbsentOr(isOneOf("item", "collection")), '"item" or "collection"'],
};

const SKILL_RULES: Rules<Skill> = {
  id: [(id) => isText(id) && ID.test(id), '1 to 64 letters, digits, "_", "." or "-"'],
  name: [isText, "a non-empty string"],
  description: [isText, "a non-empty string"],
  tags: [isAbsentOr(isTexts), "an array of strings"],
  examples: [isAbsentOr(isTexts), "an array of strings"],
  ...OPERATION_RULES,
  input: [isObjectSchema, 'a JSON Schema with "type": "object"'],
  output: [isAbsentOr(isSchema), "a JSON Schema, as an object"],
  effect: [
    isAbsentOr(isOneOf("read", "write", "delete", "administer")),
    '"read", "write", "delete" or "administer"',
  ],
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
    checkMembers(skill, where, SKILL_RULES);
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

/**
 * Returns all operations that an agent can clear, by name.
 *
 * @param own - Operations that no skill has, run by code outside the agent.
 * @throws TypeError naming the field that is wrong, such as `operations[2].reach`.
 */
export function operationsOf(
  skills: readonly Skill[],
  own: readonly Operation[],
): ReadonlyMap<string, Operation> {
  const known = new Map<string, Operation>();
  // Skills that share an operation have the same target.
  for (const skill of skills) known.set(skill.operation, known.get(skill.operation) ?? skill);
  for (const [at, one] of own.entries()) {
    const where = `operations[${at}]`;
    checkMembers(one, where, OPERATION_RULES);
    if (known.has(one.operation)) {
      throw new TypeError(`${where}.operation: "${one.operation}" is taken`);
    }
    known.set(one.operation, one);
  }
  return known;
}

function checkMembers(
  given: unknown,
  where: string,
  rules: { readonly [name: string]: Rule },
): void {
  assertKnown(given, Object.keys(rules), where);
  for (const [name, [holds, expected]] of Object.entries(rules)) {
    const value: unknown = Reflect.get(given, name);
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

function isSchema(value: unknown): boolean {
  return isObject(value);
}

/** Returns the name that errors use: a skill's id, or the operation's name. */
export function nameOf(asked: Operation | Skill): string {
  return "id" in asked ? asked.id : asked.operation;
}

/** Returns the kind of resource that an operation is performed on. */
export function targetOf({ reach, target = "item" }: Operation): "item" | "collection" | "none" {
  return reach === "none" ? "none" : target;
}

/** Returns the kind of resource of an operation; `none` if the operation is unknown. */
export function targetOfOperation(
  name: string,
  operations: ReadonlyMap<string, Operation>,
): ReturnType<typeof targetOf> {
  const known = operations.get(name);
  return known === undefined ? "none" : targetOf(known);
}
