import { equalBytes } from "@noble/ciphers/utils.js";
import { canonicalJson, type Json } from "../bytes/json.js";
import { constraintFrom, isDead } from "../caveats/argument-domain.js";
import type { Authority } from "../caveats/authority.js";
import { constraintRule } from "../caveats/constraints-rule.js";
import { type ArgumentDomain, type Domain, isEmpty, limitFrom } from "../caveats/domain.js";
import { type Hop, ownMember } from "../caveats/hop.js";
import { type KeyWords, ruleOf } from "../caveats/hop-rule.js";
import { HOP_KEYS, HOP_RULES, type HopKey } from "../caveats/hop-rules.js";
import { meetOf } from "../caveats/meet.js";
import { entryRule } from "../caveats/operation-authority.js";
import { shown, shownList } from "../caveats/scalar.js";
import { assertString } from "../checks/kinds.js";
import { nextTag } from "../macaroon/chain.js";
import { type Caveat, partsOf } from "../macaroon/macaroon.js";
import { CAPABILITY_LIMITS } from "./limits.js";
import { hopsOf, type ReadLink, readLinks, readToken } from "./read-token.js";

/** One limit of a child token that is narrower than its parent's. */
export interface AuthorityChange {
  /** The rule, such as `operations` or `constraints.amount`. */
  readonly rule: string;
  /** The parent's limit; absent if the parent has none under this rule. */
  readonly before?: Json;
  /** The child's limit. */
  readonly after: Json;
  /** The values removed from a set. */
  readonly removed?: readonly string[];
  /** Text for people that describes the change. */
  readonly message: string;
}

/** The relation of two tokens, and their differences. */
export type TokenDiff =
  | {
      readonly derived: true;
      /** The hops that only the child has. */
      readonly added: readonly Hop[];
      readonly changes: readonly AuthorityChange[];
    }
  | {
      readonly derived: false;
      readonly reason: "other_capability" | "not_a_descendant" | "signature_mismatch";
      readonly message: string;
    };

/**
 * Compares a token with a child that was narrowed from it. Proves the descent without any key, by computing the
 * child's signature from the parent's. Only the issuer can tell whether the tokens are genuine.
 *
 * @throws TokenError if a token is malformed.
 * @throws TypeError if a token is not a string.
 *
 * @example
 * ```ts
 * import { attenuate, diff } from "proviso";
 * import { createIssuer, createKeyring, createRevocationList } from "proviso/issuer";
 *
 * const options = { name: "a", keys: createKeyring(), revocations: createRevocationList() };
 * const { token } = createIssuer(options).mint({ grant: "g", operations: ["get", "put"] });
 * const child = attenuate(token, { operations: ["get"] });
 * const result = child.ok ? diff(token, child.token) : undefined;
 * result?.derived ? result.changes[0]?.removed : []; // => ["put"]
 * ```
 */
export function diff(parent: string, child: string): TokenDiff {
  assertString(parent, "parent");
  assertString(child, "child");
  const [before] = readToken(parent, CAPABILITY_LIMITS);
  const [after] = readToken(child, CAPABILITY_LIMITS);
  const from = partsOf(before);
  const to = partsOf(after);
  if (!equalBytes(from.identifier, to.identifier)) {
    const message = "these are two different capabilities: neither was narrowed from the other";
    return { derived: false, reason: "other_capability", message };
  }
  const shared = from.caveats.length;
  if (shared > to.caveats.length || !from.caveats.every((one, at) => same(one, to.caveats[at]))) {
    const message =
      to.caveats.length < shared
        ? "the second token has fewer links than the first; give the parent first"
        : "the second token is on another branch: it was not narrowed from the first";
    return { derived: false, reason: "not_a_descendant", message };
  }
  let tag = from.signature;
  for (const caveat of to.caveats.slice(shared)) tag = nextTag(tag, caveat);
  if (!equalBytes(tag, to.signature)) {
    const message = "the links match but the signatures do not: at least one token was altered";
    return { derived: false, reason: "signature_mismatch", message };
  }
  // The first `shared` links are the parent's.
  const links = readLinks(after);
  const hops = hopsOf(links);
  return {
    derived: true,
    added: hops.slice(shared).filter((hop) => hop !== undefined),
    changes: [
      ...changesBetween(meetOf([hops.slice(0, shared)]), meetOf([hops])),
      ...otherLinks(links, shared),
    ],
  };
}

/** Describes the added links that are not hops. */
function otherLinks(links: readonly ReadLink[], shared: number): AuthorityChange[] {
  return links.flatMap((link, at): AuthorityChange[] => {
    if (at < shared || link.kind === "hop") return [];
    const message =
      link.kind === "third-party"
        ? `link ${at + 1}: a discharge from a third party is needed now`
        : `link ${at + 1} cannot be read, so every check refuses the child`;
    return [
      { rule: `link ${at + 1}`, after: link.kind === "unreadable" ? "hop" : link.kind, message },
    ];
  });
}

function same(a: Caveat, b: Caveat | undefined): boolean {
  if (b === undefined || !equalBytes(a.identifier, b.identifier)) return false;
  if (a.kind === "first-party" || b.kind === "first-party") return a.kind === b.kind;
  return equalBytes(a.verificationId, b.verificationId);
}

function changesBetween(before: Authority, after: Authority): AuthorityChange[] {
  return HOP_KEYS.flatMap((key) => {
    const now = HOP_RULES[key].left(after);
    return now === undefined ? [] : changesOf(key, HOP_RULES[key].left(before), now);
  });
}

function changesOf(key: HopKey, before: KeyWords | undefined, after: KeyWords): AuthorityChange[] {
  if (after.kind === "set") {
    return setChange(key, before?.kind === "set" ? before.items : undefined, after.items);
  }
  if (after.kind === "operation-domains") {
    const known = before?.kind === "operation-domains" ? before.operations : {};
    return Object.entries(after.operations).flatMap(([operation, domains]) =>
      operationChanges(operation, ownMember(known, operation) ?? {}, domains),
    );
  }
  if (after.kind === "closed-lists") {
    const known = before?.kind === "closed-lists" ? before.lists : {};
    return Object.entries(after.lists).flatMap(([operation, names]) =>
      setChange(entryRule("arguments", operation), ownMember(known, operation), names),
    );
  }
  if (after.kind !== "domains") return valueChange(key, scalarOf(before), scalarOf(after));
  const known = before?.kind === "domains" ? before.domains : {};
  return Object.entries(after.domains).flatMap(([argument, domain]) => {
    const earlier = Object.hasOwn(known, argument) ? known[argument] : undefined;
    return valueChange(constraintRule(argument), limitOf(earlier), limitOf(domain));
  });
}

type Domains = { readonly [argument: string]: ArgumentDomain };

function operationChanges(operation: string, before: Domains, after: Domains): AuthorityChange[] {
  return Object.entries(after).flatMap(([argument, domain]) => {
    const earlier = ownMember(before, argument);
    const rule = ruleOf(entryRule("operationConstraints", operation), argument);
    return valueChange(rule, earlier && leftAsJson(earlier), leftAsJson(domain));
  });
}

function leftAsJson(domain: ArgumentDomain): Json {
  return isDead(domain) ? "nothing" : ((constraintFrom(domain) ?? null) as Json);
}

function scalarOf(words: KeyWords | undefined): Json | undefined {
  if (words?.kind === "time") return words.time;
  return words?.kind === "count" ? words.count : undefined;
}

function setChange(
  rule: string,
  before: readonly string[] | undefined,
  after: readonly string[],
): AuthorityChange[] {
  if (before === undefined) {
    return [{ rule, after, message: `${rule}: any, now only ${shownList(after)}` }];
  }
  const removed = before.filter((item) => !after.includes(item));
  if (removed.length === 0) return [];
  const message = `${rule}: ${shownList(removed)} taken away, ${shownList(after)} left`;
  return [{ rule, before, after, removed, message }];
}

function valueChange(
  rule: string,
  before: Json | undefined,
  after: Json | undefined,
): AuthorityChange[] {
  if (after === undefined) return [];
  if (before === undefined) {
    return [{ rule, after, message: `${rule}: no limit, now ${shown(after)}` }];
  }
  if (canonicalJson(before) === canonicalJson(after)) return [];
  return [{ rule, before, after, message: `${rule}: ${shown(before)}, now ${shown(after)}` }];
}

function limitOf(domain: Domain | undefined): Json | undefined {
  if (domain === undefined) return undefined;
  return isEmpty(domain) ? "nothing" : (limitFrom(domain) as Json | undefined);
}
