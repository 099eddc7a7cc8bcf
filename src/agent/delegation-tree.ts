import type { Hop } from "../caveats/hop.js";
import { assertArray } from "../checks/kinds.js";
import type { LedgerEvent } from "./ledger.js";

/** One hop of a capability, and the hops that were seen after it. */
export interface DelegationNode {
  /** The id that revokes this hop and all hops below it in the tree. */
  readonly revocationId: string;
  /** The contents of the hop. Absent for a third-party caveat, and if the contents are unknown. */
  readonly hop?: Hop;
  /** Number of allowed invocations with a token that ends with this hop. */
  readonly allowed: number;
  readonly refused: number;
  /** Denial codes of refused invocations, each once, in the order of their first occurrence. */
  readonly codes: readonly string[];
  /** Agents that presented a token that ends with this hop, each once, in the order of their first occurrence. */
  readonly invokers: readonly string[];
  /** The time at which a token with this hop was first seen: `YYYY-MM-DDTHH:MM:SS.mmmZ`. */
  readonly firstSeen: string;
  readonly lastSeen: string;
  /** The hops that follow this hop, in the order in which they were first seen. */
  readonly children: readonly DelegationNode[];
}

type Growing = {
  -readonly [Name in keyof DelegationNode]: DelegationNode[Name] extends readonly string[]
    ? string[]
    : DelegationNode[Name];
} & { readonly children: Growing[] };

/**
 * Builds the delegation tree of a capability from the invocations in the ledger.
 *
 * @param events - The ledger events of one capability; events without a path are ignored.
 * @returns The node of the issuer's hop, as the root of the tree; `undefined` if no event has a path.
 * @throws TypeError if `events` is not an array, or has events of several capabilities.
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
  assertArray(events, "events", "events, as a ledger lists them");
  let root: Growing | undefined;
  let capability: string | undefined;
  // A revocation id is a hash over all links up to its hop, so each id occurs once in the tree.
  const nodes = new Map<string, Growing>();
  for (const event of [...events].sort((a, b) => (a.at < b.at ? -1 : a.at > b.at ? 1 : 0))) {
    const { at, path = [] } = event;
    if (event.kind !== "invocation" || path[0] === undefined) continue;
    capability ??= event.capability;
    root ??= newNode(path[0].revocationId, at);
    nodes.set(root.revocationId, root);
    if (event.capability !== capability || path[0].revocationId !== root.revocationId) {
      throw new TypeError("the events are of more than one capability");
    }
    let node = root;
    for (const { revocationId, hop } of path) {
      const parent = node;
      node = nodes.get(revocationId) ?? newNode(revocationId, at);
      if (!nodes.has(revocationId)) parent.children.push(node);
      nodes.set(revocationId, node);
      node.lastSeen = at;
      if (hop !== undefined) node.hop ??= hop;
    }
    if (event.decision === "allowed") node.allowed++;
    else node.refused++;
    addNew(node.codes, event.codes ?? []);
    if (event.invoker !== undefined) addNew(node.invokers, [event.invoker]);
  }
  return root;
}

function newNode(revocationId: string, at: string): Growing {
  const counts = { allowed: 0, refused: 0, codes: [], invokers: [] };
  return { revocationId, ...counts, firstSeen: at, lastSeen: at, children: [] };
}

function addNew(list: string[], values: readonly string[]): void {
  list.push(...values.filter((value) => !list.includes(value)));
}
