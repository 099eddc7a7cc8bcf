import { CLOSED_LISTS } from "./closed-lists-rule.js";
import { CONSTRAINTS } from "./constraints-rule.js";
import { type Hop, ownMember } from "./hop.js";
import type { HopRule } from "./hop-rule.js";
import { MAX_FURTHER_HOPS } from "./link-rule.js";
import { NONCE_RULE, PURPOSE } from "./note-rule.js";
import { OPERATION_CONSTRAINTS } from "./operation-constraints-rule.js";
import { setRule } from "./set-rule.js";
import { EXPIRES, NOT_BEFORE } from "./time-rule.js";

/** The name of one key that a hop may have. */
export type HopKey = keyof Hop;

export type HopValue<Key extends HopKey> = Required<Hop>[Key];

/**
 * The table of hop keys, in the order in which checks report them. It must have an entry for every key of `Hop`, and
 * each entry must have every function. A key that is declared but not judged therefore does not compile. Reading,
 * checking, intersecting, linting, display, flags and requests are derived from this table.
 */
export const HOP_RULES: { readonly [Key in HopKey]: HopRule<HopValue<Key>> } = {
  operations: setRule("operations", {
    code: "operation_denied",
    label: "operations",
    noun: "operation",
    flag: {
      kind: "list",
      form: "--op <operation>",
      help: "an operation that stays allowed; repeat for more, or list them: a,b",
    },
    named: ({ operation }) => operation,
  }),
  resourceHandles: setRule("resourceHandles", {
    code: "resource_denied",
    label: "resources",
    noun: "resource handle",
    flag: {
      kind: "list",
      form: "--resource <handle>",
      help: "a resource that stays allowed; repeat for more",
    },
    opaque: true,
    named: ({ resourceHandles }) => resourceHandles,
  }),
  constraints: CONSTRAINTS,
  operationConstraints: OPERATION_CONSTRAINTS,
  arguments: CLOSED_LISTS,
  expires: EXPIRES,
  notBefore: NOT_BEFORE,
  audience: setRule("audience", {
    code: "audience_denied",
    label: "audience",
    noun: "audience",
    flag: {
      kind: "list",
      form: "--audience <service>",
      help: "a service that may accept the token; repeat for more",
    },
    named: ({ audience }) => audience,
  }),
  invokers: setRule("invokers", {
    code: "invoker_denied",
    label: "invokers",
    noun: "invoker",
    flag: {
      kind: "list",
      form: "--invoker <agent>",
      help: "an agent that may use the token; repeat for more",
    },
    named: ({ invoker }) => invoker,
  }),
  maxFurtherHops: MAX_FURTHER_HOPS,
  purpose: PURPOSE,
  nonce: NONCE_RULE,
};

/** Every key of a hop, in the order in which checks report them. */
export const HOP_KEYS: readonly HopKey[] = Object.keys(HOP_RULES) as HopKey[];

// The query of a request determines the handles, and only attenuating needs a nonce.
const NOT_REQUESTED = ["resourceHandles", "nonce"] as const;

/** The keys of a hop that a request for a capability may have. */
export type Requested = Omit<Hop, (typeof NOT_REQUESTED)[number]>;

/** The keys of {@link Requested}. */
export const REQUESTED_KEYS: readonly HopKey[] = HOP_KEYS.filter(
  (key) => !NOT_REQUESTED.some((own) => own === key),
);

/** The keys of a hop that limit the arguments of calls. */
export const ARGUMENT_KEYS = ["constraints", "operationConstraints", "arguments"] as const;

/** The part of a hop that limits the arguments of calls. */
export type ArgumentLimits = Pick<Hop, (typeof ARGUMENT_KEYS)[number]>;

/** Returns whether `name` is a key that a hop may have. */
export function isHopKey(name: string): name is HopKey {
  return Object.hasOwn(HOP_RULES, name);
}

function at<Key extends HopKey, Result>(
  hop: { readonly [Own in HopKey]?: HopValue<Own> },
  key: Key,
  visit: <Value>(rule: HopRule<Value>, value: Value, key: HopKey) => Result,
  results: Result[],
): void {
  const value: HopValue<Key> | undefined = ownMember(hop, key);
  if (value !== undefined) results.push(visit<HopValue<Key>>(HOP_RULES[key], value, key));
}

/** Calls `visit` for each key that the hop has, in the table's order, and returns the results. */
export function overHop<Result>(
  hop: Hop,
  visit: <Value>(rule: HopRule<Value>, value: Value, key: HopKey) => Result,
): Result[] {
  const results: Result[] = [];
  for (const key of HOP_KEYS) {
    at(hop, key, visit, results);
  }
  return results;
}
