import type { Hop } from "../caveats/hop.js";
import type { LedgerEvent } from "./ledger.js";

/** One hop of a capability, and the hops that were seen to follow it. */
export interface DelegationNode {
  /** Revokes this hop and all below it. */
  readonly revocationId: string;
  /** What it says; absent if that is not known, or for a third-party caveat. */
  readonly hop?: Hop;
  /** Invocations with a token that ended here, and were allowed or refused. */
  readonly allowed: number;
  readonly refused: number;
  /** Why, each code once, in order. */
  readonly codes: readonly string[];
  /** The agents that presented a token that ended here, each once, in order. */
  readonly invokers: readonly string[];
  /** When a token with this hop was first and last seen: `YYYY-MM-DDTHH:MM:SS.mmmZ`. */
  readonly firstSeen: string;
  readonly lastSeen: string;
  /** In the order in which they were first seen. */
  readonly children: readonly DelegationNode[];
}

interface Growing {
  readonly revocationId: string;
  hop: Hop | undefined;
  allowed: number;
  refused: number;
  readonly codes: Set<string>;
  readonly invokers: Set<string>;
  firstSeen: string;
  lastSeen: string;
  readonly children: Map<string, Growing>;
}

/**
 * The tree of delegation of one capability, as far as invocations have shown it: a branch whose tokens
 * no invocation presented is not in it.
 *
 * @param events - Of one capability, such as a ledger lists them; those that are no invocation, or
 *   tell no path, are passed over.
 * @returns The issuer's hop; `undefined` if no event tells a path.
 * @throws TypeError if they are of more than one capability.
 *
 * @example
 * ```ts
 * import { delegationTree } from "proviso/agent";
 *
 * const shared = { kind: "invocation", capability: "cap_1", invoker: "assistant" };
 * const path = [{ revocationId: "rv_1", hop: { operations: ["get", "put"] } }];
 * const child = [...path, { revocationId: "rv_2", hop: { operations: ["get"] } }];
 * const codes = ["operation_denied"];
 * const tree = delegationTree([
 *   { ...shared, at: "2026-01-01T00:00:00.000Z", decision: "allowed", path },
 *   { ...shared, at: "2026-01-01T00:01:00.000Z", decision: "refused", codes, path: child },
 * ]);
 * [tree?.revocationId, tree?.allowed, tree?.lastSeen]; // => ["rv_1", 1, "2026-01-01T00:01:00.000Z"]
 * tree?.children.map((child) => [child.refused, child.codes]); // => [[1, ["operation_denied"]]]
 * ```
 */
export function delegationTree(events: readonly LedgerEvent[]): DelegationNode | undefined {
  let root: Growing | undefined;
  let capability: string | undefined;
  for (const event of [...events].sort((a, b) => (a.at < b.at ? -1 : a.at > b.at ? 1 : 0))) {
    const [first, ...rest] = event.path ?? [];
    if (event.kind !== "invocation" || first === undefined) continue;
    root ??= grow(first.revocationId, event.at);
    capability ??= event.capability;
    if (event.capability !== capability || first.revocationId !== root.revocationId) {
      throw new TypeError("the events are of more than one capability");
    }
    let node = see(root, first.hop, event.at);
    for (const { revocationId, hop } of rest) {
      const child = node.children.get(revocationId) ?? grow(revocationId, event.at);
      node.children.set(revocationId, child);
      node = see(child, hop, event.at);
    }
    if (event.decision === "allowed") node.allowed++;
    else node.refused++;
    for (const code of event.codes ?? []) node.codes.add(code);
    if (event.invoker !== undefined) node.invokers.add(event.invoker);
  }
  return root === undefined ? undefined : grown(root);
}

function grow(revocationId: string, at: string): Growing {
  return {
    revocationId,
    hop: undefined,
    allowed: 0,
    refused: 0,
    codes: new Set(),
    invokers: new Set(),
    firstSeen: at,
    lastSeen: at,
    children: new Map(),
  };
}

function see(node: Growing, hop: Hop | undefined, at: string): Growing {
  node.hop ??= hop;
  node.lastSeen = at;
  return node;
}

// As deep as the longest path, which no token's can exceed: 32 links.
function grown({ hop, codes, invokers, children, ...rest }: Growing): DelegationNode {
  return {
    ...rest,
    ...(hop === undefined ? {} : { hop }),
    codes: [...codes],
    invokers: [...invokers],
    children: Array.from(children.values(), grown),
  };
}
