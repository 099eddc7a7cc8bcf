import { describe, expect, test } from "vitest";
import { type DelegationNode, delegationTree } from "../../src/agent/delegation-tree.js";
import type { LedgerEvent } from "../../src/agent/ledger.js";

function at(second: number): string {
  return new Date(Date.UTC(2026, 0, 1, 0, 0, second)).toISOString();
}

/** Returns an invocation with a token whose hops have these ids. */
function seen(second: number, ids: string, more: Partial<LedgerEvent> = {}): LedgerEvent {
  const path = [...ids].map((id) => ({ revocationId: id, hop: { purpose: id } }));
  return {
    kind: "invocation",
    at: at(second),
    decision: "allowed",
    capability: "cap_1",
    path,
    ...more,
  };
}

/** Formats a tree of ids as `a(b,c)`. */
function shape({ revocationId, children }: DelegationNode): string {
  return children.length === 0 ? revocationId : `${revocationId}(${children.map(shape).join(",")})`;
}

function find(node: DelegationNode | undefined, ids: string): DelegationNode | undefined {
  let found = node;
  for (const id of [...ids].slice(1)) {
    found = found?.children.find(({ revocationId }) => revocationId === id);
  }
  return found;
}

describe("the tree of delegation", () => {
  test("has a node for each hop in the ledger, with siblings in the order of their first call", () => {
    const tree = delegationTree([
      seen(3, "acd"),
      seen(1, "ab"),
      seen(2, "abe"),
      seen(4, "a"),
      seen(5, "ac"),
    ]);
    expect(tree === undefined ? "" : shape(tree)).toBe("a(b(e),c(d))");
  });

  test("counts a call at the node of its token's last hop, and updates lastSeen of all nodes on the path", () => {
    const tree = delegationTree([
      seen(4, "ab", { decision: "refused", codes: ["expired", "revoked"], invoker: "x" }),
      seen(1, "a", { invoker: "y" }),
      seen(3, "ab", { decision: "refused", codes: ["revoked"], invoker: "z" }),
      seen(5, "ab", { invoker: "x" }),
    ]);
    expect(tree).toEqual({
      revocationId: "a",
      hop: { purpose: "a" },
      allowed: 1,
      refused: 0,
      codes: [],
      invokers: ["y"],
      firstSeen: at(1),
      lastSeen: at(5),
      children: [
        {
          revocationId: "b",
          hop: { purpose: "b" },
          allowed: 1,
          refused: 2,
          codes: ["revoked", "expired"],
          invokers: ["z", "x"],
          firstSeen: at(3),
          lastSeen: at(5),
          children: [],
        },
      ],
    });
  });

  test("shows the contents of a hop if at least one event recorded them", () => {
    const bare = [{ revocationId: "a" }, { revocationId: "b" }];
    const tree = delegationTree([seen(1, "ab", { path: bare }), seen(2, "ab")]);
    expect(find(tree, "ab")?.hop).toEqual({ purpose: "b" });
    expect(delegationTree([seen(1, "ab", { path: bare })])).not.toHaveProperty("hop");
  });

  test("is built from invocation events only", () => {
    const others = [
      seen(0, "z", { kind: "revocation" }),
      seen(0, "a", { kind: "issuance" }),
      { ...seen(0, "a"), path: [] },
    ];
    expect(delegationTree(others)).toBeUndefined();
    expect(delegationTree([])).toBeUndefined();
    const tree = delegationTree([...others, seen(1, "a")]);
    expect([tree?.allowed, tree?.firstSeen]).toEqual([1, at(1)]);
  });

  test("throws if the events have different capabilities or different root hops", () => {
    const message = "the events are of more than one capability";
    const other = seen(2, "a", { capability: "cap_2" });
    expect(() => delegationTree([seen(1, "a"), other])).toThrow(message);
    expect(() => delegationTree([seen(1, "a"), seen(2, "b")])).toThrow(message);
  });

  test("does not change the events from which it is built", () => {
    const events = Object.freeze([seen(2, "a"), seen(1, "a")]);
    delegationTree(events);
    expect(events.map((event) => event.at)).toEqual([at(2), at(1)]);
  });
});
