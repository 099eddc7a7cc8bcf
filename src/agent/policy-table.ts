import { ARGUMENT_KEYS, type ArgumentLimits } from "../caveats/hop-rules.js";
import { assertMembers, meant } from "../checks/members.js";
import { plainCopy } from "../checks/plain.js";
import { texts } from "../issuer/grant.js";
import type { Permission, Policy, ResourceSelector } from "./policy.js";
import { checkedPermission } from "./policy-limits.js";
import { readFilter } from "./resources/filter.js";

/**
 * One rule of a policy table: the permissions of a principal or a group. Limits on arguments (`constraints`,
 * `operationConstraints`, `arguments`) have the form that they have in a hop. They are appended as a hop to each
 * capability that is issued by this rule, and checked again at each call.
 */
export interface PolicyRule extends ArgumentLimits {
  /**
   * The authenticated principal, or `autonomous:*` for agents without a user. A rule has either `principal` or
   * `group`.
   */
  readonly principal?: string;
  readonly group?: string;
  /** The id of a grant, or `*` for all grants. */
  readonly grant: string;
  readonly operations: readonly string[] | "*";
  /** The resources of the rule; all resources unless given. */
  readonly resources?: ResourceSelector;
  /**
   * The authenticated agents to which the rule applies, when they request a capability or make a call without
   * one; any agent unless given. A capability that such an agent passes on is valid for other agents too.
   */
  readonly invokers?: readonly string[];
}

/** The rules of a policy, in the form of a configuration file. */
export interface PolicyDefinition {
  /** Principals by group name. */
  readonly groups?: { readonly [group: string]: readonly string[] };
  readonly rules: readonly PolicyRule[];
}

const RULE_MEMBERS = [
  "principal",
  "group",
  "grant",
  "operations",
  "invokers",
  "resources",
  ...ARGUMENT_KEYS,
];

/** A policy that is defined by a table of rules. The table can be replaced. Made by {@link createPolicyTable}. */
export class PolicyTable implements Policy {
  #rules: readonly CheckedRule[];

  constructor(definition: PolicyDefinition) {
    this.#rules = checkedRules(definition);
  }

  permissions(principal: string, grant: string): readonly Permission[] {
    return this.#rules
      .filter((rule) => isNamed(principal, rule) && ["*", grant].includes(rule.grant))
      .map((rule) => rule.permission);
  }

  /**
   * Replaces the table for all future calls.
   *
   * @throws TypeError if the definition is invalid; then nothing changes.
   */
  replace(definition: PolicyDefinition): void {
    this.#rules = checkedRules(definition);
  }
}

/**
 * Creates a policy from a table. Anything that no rule allows is denied.
 *
 * @throws TypeError naming the field that is wrong, such as `policy.rules[2].group`.
 *
 * @example
 * ```ts
 * import { createPolicyTable } from "proviso/agent";
 *
 * const policy = createPolicyTable({
 *   groups: { analysts: ["alice", "bob"] },
 *   rules: [
 *     {
 *       group: "analysts",
 *       grant: "documents:read",
 *       operations: ["retrieve", "search"],
 *       resources: { collections: ["reports"], filter: { confidential: false } },
 *     },
 *   ],
 * });
 * policy.permissions("alice", "documents:read").length; // => 1
 * policy.permissions("alice", "documents:write").length; // => 0
 * policy.permissions("mallory", "documents:read").length; // => 0
 * ```
 */
export function createPolicyTable(policy: PolicyDefinition): PolicyTable {
  return new PolicyTable(policy);
}

const AUTONOMOUS = "autonomous:";

function isNamed(principal: string, { principals }: CheckedRule): boolean {
  if (principals.has(principal)) return true;
  return principal.startsWith(AUTONOMOUS) && principals.has(`${AUTONOMOUS}*`);
}

interface CheckedRule {
  readonly principals: ReadonlySet<string>;
  readonly grant: string;
  readonly permission: Permission;
}

function checkedRules(definition: PolicyDefinition): readonly CheckedRule[] {
  assertMembers(definition, ["groups", "rules"], "policy");
  const { groups = {}, rules } = plainCopy(definition, "policy");
  if (typeof groups !== "object" || groups === null || Array.isArray(groups)) {
    throw new TypeError("policy.groups: must be an object of arrays of principals");
  }
  const members = new Map<string, readonly string[]>();
  for (const [name, principals] of Object.entries(groups)) {
    members.set(name, texts(principals, `policy.groups.${name}`));
  }
  if (!Array.isArray(rules)) throw new TypeError("policy.rules: must be an array");
  return rules.map((rule: PolicyRule, at) => checkedRule(rule, `policy.rules[${at}]`, members));
}

function checkedRule(
  rule: PolicyRule,
  where: string,
  members: ReadonlyMap<string, readonly string[]>,
): CheckedRule {
  assertMembers(rule, RULE_MEMBERS, where);
  const { principal, group, grant, operations, invokers, ...others } = rule;
  const { resources = { collections: "*" }, ...limits } = others;
  if ((principal === undefined) === (group === undefined)) {
    throw new TypeError(`${where}: name either a principal or a group`);
  }
  const principals = group === undefined ? [principal] : members.get(group);
  if (principals === undefined) {
    const hint = meant(String(group), [...members.keys()]);
    throw new TypeError(`${where}.group: there is no group "${String(group)}"${hint}`);
  }
  if (typeof grant !== "string" || grant === "") {
    throw new TypeError(`${where}.grant: must be a grant's id, or "*"`);
  }
  const named = operations === "*" ? "*" : texts(operations, `${where}.operations`);
  return {
    principals: new Set(texts(principals, `${where}.principal`)),
    grant,
    permission: checkedPermission(
      {
        ...limits,
        operations: named,
        resources: checkedSelector(resources, `${where}.resources`),
        ...(invokers === undefined ? {} : { invokers: texts(invokers, `${where}.invokers`) }),
      },
      where,
    ),
  };
}

function checkedSelector(selector: ResourceSelector, where: string): ResourceSelector {
  if (typeof selector !== "object" || selector === null) {
    throw new TypeError(`${where}: must be an object with "collections"`);
  }
  assertMembers(selector, ["collections", "filter"], where);
  const { collections, filter } = selector;
  const named = collections === "*" ? "*" : texts(collections, `${where}.collections`);
  if (filter === undefined) return { collections: named };
  const reading = readFilter(filter);
  if (reading.ok) return { collections: named, filter: reading.filter };
  throw new TypeError(`${where}.filter: ${reading.denial.message}`);
}
