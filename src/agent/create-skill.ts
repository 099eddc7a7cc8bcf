import type { Json, JsonObject } from "../bytes/json.js";
import { assertHas } from "../checks/kinds.js";
import type { Skill, SkillCall } from "./skill.js";

/** A skill whose `run` gets arguments of the type that its schema describes. */
export interface TypedSkill<Input extends JsonObject> extends Omit<Skill, "input" | "run"> {
  /** Like {@link Skill.input}. */
  readonly input: Input;
  /** Like {@link Skill.run}. */
  run(call: SkillCall<ArgumentsOf<Input>>): Promise<Json>;
}

/**
 * Creates a skill. If the schema is a literal, `run` gets arguments of the type that the schema describes. The
 * type is derived from `type`, `properties`, `required`, `additionalProperties`, `items`, `enum`, `const`,
 * `anyOf` and `oneOf`; `prefixItems` and `patternProperties` make it wider. Other keywords do not affect the type;
 * they are checked when the skill is called.
 *
 * @returns `skill` itself. {@link createIssuingAgent} checks its other properties.
 * @throws TypeError if `skill` is not an object with a function `run`.
 *
 * @example
 * ```ts
 * import { createSkill } from "proviso/agent";
 *
 * const addition = createSkill({
 *   id: "add",
 *   name: "Add",
 *   description: "Adds two numbers",
 *   operation: "add",
 *   reach: "none",
 *   input: {
 *     type: "object",
 *     properties: { a: { type: "number" }, b: { type: "number" } },
 *     required: ["a", "b"],
 *     additionalProperties: false,
 *   },
 *   // Both are numbers here, with no cast.
 *   run: async ({ arguments: { a, b } }) => a + b,
 * });
 * addition.id; // => "add"
 * ```
 */
export function createSkill<const Input extends JsonObject>(skill: TypedSkill<Input>): Skill;
// The arguments of every call are checked against the schema before `run` gets them, so this implementation is
// safe.
export function createSkill(skill: Skill): Skill {
  assertHas(skill, ["run", 'an object with a function "run"'], "skill");
  return skill;
}

/** The arguments that a skill's schema allows. */
export type ArgumentsOf<Schema> =
  ValueOf<Schema> extends infer Value extends object ? Value : JsonObject;

/** The type of the values that a schema allows, or a wider type if TypeScript cannot express it. */
type ValueOf<Schema> = Schema extends { readonly const: infer Value }
  ? Value
  : Schema extends { readonly enum: readonly (infer Value)[] }
    ? Value
    : Schema extends { readonly type: readonly (infer Type)[] }
      ? ValueOfType<Type, Schema>
      : Schema extends { readonly type: infer Type }
        ? ValueOfType<Type, Schema>
        : Schema extends { readonly anyOf: readonly (infer Branch)[] }
          ? ValueOf<Branch>
          : Schema extends { readonly oneOf: readonly (infer Branch)[] }
            ? ValueOf<Branch>
            : Json;

interface ValueOfName {
  readonly string: string;
  readonly number: number;
  readonly integer: number;
  readonly boolean: boolean;
  readonly null: null;
}

type ValueOfType<Type, Schema> = Type extends keyof ValueOfName
  ? ValueOfName[Type]
  : Type extends "array"
    ? readonly ItemOf<Schema>[]
    : Type extends "object"
      ? ObjectOf<Schema>
      : Json;

type ItemOf<Schema> = Schema extends { readonly prefixItems: unknown }
  ? Json
  : Schema extends { readonly items: infer Item }
    ? ValueOf<Item>
    : Json;

type ObjectOf<Schema> = Schema extends { readonly properties: infer Properties }
  ? MembersOf<Properties, RequiredOf<Schema>> & OthersOf<Schema>
  : OthersOf<Schema>;

type MembersOf<Properties, Required> = {
  readonly [Name in keyof Properties as Name extends Required ? Name : never]: ValueOf<
    Properties[Name]
  >;
} & {
  readonly [Name in keyof Properties as Name extends Required ? never : Name]?: ValueOf<
    Properties[Name]
  >;
};

type RequiredOf<Schema> = Schema extends { readonly required: readonly (infer Name)[] }
  ? Name
  : never;

type OthersOf<Schema> = Schema extends { readonly patternProperties: unknown }
  ? JsonObject
  : Schema extends { readonly additionalProperties: false }
    ? unknown
    : JsonObject;
