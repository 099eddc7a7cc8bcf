import type { AskedGrant } from "../../agent/parties/records.js";
import type { Skill } from "../../agent/skill.js";
import { isObject } from "../../bytes/json.js";
import { readArgumentName } from "../../caveats/argument-pointer.js";
import type { Authority } from "../../caveats/authority.js";
import { isScalar, type Scalar, type ScalarType, scalarType } from "../../caveats/scalar.js";

/** An argument that the user can limit: one in the schema of a skill, or one that an existing limit names. */
export interface Argument {
  readonly name: string;
  /** The types that its values may have. If the schema names no type, every type is possible. */
  readonly types: readonly ScalarType[];
  /** All values that the schema allows; absent if the schema does not list them. */
  readonly choices?: readonly Scalar[];
  /** The skill author's description of the argument. */
  readonly description?: string;
  /** The operations that have a skill with the argument in its schema's `properties`; empty if no skill has it. */
  readonly operations: readonly string[];
  /** True if the schema of a skill has the argument; false if only an existing limit names it. */
  readonly fromSkill: boolean;
}

/**
 * Returns whether calls of an operation may lack an argument that other operations have: none of the operation's
 * skills has the argument in `properties`. Calls may still have the argument, if the schema allows additional
 * properties, or describes it by `allOf` or `$ref`.
 */
export function mayLack({ fromSkill, operations }: Argument, operation: string): boolean {
  return fromSkill && !operations.includes(operation);
}

/** The arguments of a requested grant. */
export interface Arguments {
  readonly known: readonly Argument[];
  /** True if calls may have arguments that the schemas do not describe. */
  readonly open: boolean;
  /**
   * For each operation, the names of all arguments in its skills' schemas. They include arguments that cannot
   * be limited.
   */
  readonly shown: ReadonlyMap<string, readonly string[]>;
}

/**
 * Returns the arguments of a requested grant.
 *
 * @param authority - The authority that remains under the request's own limits.
 */
export type ArgumentsOf = (asked: AskedGrant, authority: Authority) => Arguments;

/** The properties of a skill that the console uses. */
export type DescribedSkill = Pick<Skill, "id" | "operation" | "input" | "effect">;

const TYPES: readonly ScalarType[] = ["string", "number", "boolean", "null"];
const MOST_ARGUMENTS = 40;
const MOST_CHOICES = 24;

/** Returns a function that finds the arguments of a grant in the schemas of skills and in existing limits. */
export function argumentsOf(skills: Iterable<DescribedSkill>): ArgumentsOf {
  const all = [...skills];
  return (asked, authority) => {
    const concerned = all.filter(({ id, operation }) =>
      asked.name === undefined ? asked.operations.includes(operation) : id === asked.name,
    );
    const known = new Map<string, Argument>();
    const shown = new Map<string, readonly string[]>();
    for (const { input, operation } of concerned) {
      const names = isObject(input["properties"]) ? Object.keys(input["properties"]) : [];
      shown.set(operation, [...new Set([...(shown.get(operation) ?? []), ...names])]);
      for (const argument of argumentsIn(input, operation)) {
        const before = known.get(argument.name);
        known.set(argument.name, before === undefined ? argument : either(before, argument));
      }
    }
    for (const [name, types] of limitedIn(authority)) {
      const isKnown = known.has(name) || types.length === 0;
      if (!isKnown) known.set(name, { name, types, operations: [], fromSkill: false });
    }
    const open =
      concerned.length === 0 ||
      concerned.some(({ input }) => input["additionalProperties"] !== false);
    return { known: [...known.values()].slice(0, MOST_ARGUMENTS), open, shown };
  };
}

/**
 * Yields the name of each top-level argument with an existing limit, and the types of the scalars that the
 * limits still allow.
 */
function* limitedIn({
  constraints = {},
  operationConstraints = {},
}: Authority): Iterable<readonly [name: string, types: readonly ScalarType[]]> {
  for (const [name, { types }] of Object.entries(constraints)) yield [name, types];
  for (const entry of Object.values(operationConstraints)) {
    for (const [name, { types }] of Object.entries(entry)) {
      const [top, ...inner] = readArgumentName(name) ?? [name];
      if (inner.length === 0) yield [top, types.filter((type) => type !== "array")];
    }
  }
}

function* argumentsIn(schema: DescribedSkill["input"], operation: string): Iterable<Argument> {
  const { properties } = schema;
  if (!isObject(properties)) return;
  for (const [name, property] of Object.entries(properties)) {
    // A user cannot limit handles, since an approver's hop cannot have handles.
    if (!isObject(property) || property["format"] === "resource-handle") continue;
    const choices = choicesIn(property);
    const types = typesIn(property, choices);
    if (types.length === 0) continue;
    const { description } = property;
    yield {
      name,
      types,
      operations: [operation],
      fromSkill: true,
      ...(choices === undefined ? {} : { choices }),
      ...(typeof description === "string" ? { description } : {}),
    };
  }
}

function typesIn(
  property: { readonly [keyword: string]: unknown },
  choices: readonly Scalar[] | undefined,
): readonly ScalarType[] {
  if (choices !== undefined) return typesOf(choices);
  const { type } = property;
  if (type === undefined) return TYPES;
  const named = (Array.isArray(type) ? type : [type]).map((one) =>
    one === "integer" ? "number" : one,
  );
  return TYPES.filter((one) => named.includes(one));
}

function choicesIn(property: {
  readonly [keyword: string]: unknown;
}): readonly Scalar[] | undefined {
  const listed = Object.hasOwn(property, "const") ? [property["const"]] : property["enum"];
  if (!Array.isArray(listed) || listed.length > MOST_CHOICES || !listed.every(isScalar)) {
    return property["type"] === "boolean" ? [true, false] : undefined;
  }
  return listed.length === 0 ? undefined : listed;
}

function typesOf(values: readonly Scalar[]): readonly ScalarType[] {
  return TYPES.filter((type) => values.some((value) => scalarType(value) === type));
}

/** Merges an argument of two skills of the same grant. The result has no list of choices. */
function either(one: Argument, other: Argument): Argument {
  const { name } = one;
  const types = TYPES.filter((type) => one.types.includes(type) || other.types.includes(type));
  const operations = [...new Set([...one.operations, ...other.operations])];
  const { description } = one;
  return {
    name,
    types,
    operations,
    fromSkill: true,
    ...(description === undefined ? {} : { description }),
  };
}
