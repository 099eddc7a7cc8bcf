import { expect, test } from "vitest";
import { attenuate, createNonce, inspect, revocationId } from "../../src/index.js";
import { attenuated, codes, fixture, GET, mint } from "./support.js";

interface Node {
  readonly name: string;
  readonly token: string;
  readonly ancestors: readonly string[];
}

/** Returns every token of a binary tree of this depth, with `node` as its root. */
function tree(node: Node, depth: number): Node[] {
  if (depth === 0) return [node];
  const children = ["a", "b"].map((side) => ({
    name: `${node.name}${side}`,
    token: attenuated(node.token, { purpose: side, nonce: createNonce() }),
    ancestors: [...node.ancestors, node.name],
  }));
  return [node, ...children.flatMap((child) => tree(child, depth - 1))];
}

const NAMES = tree({ name: "r", token: mint(fixture().issuer), ancestors: [] }, 3).map(
  ({ name }) => name,
);

test.each(NAMES)(
  "in a tree of tokens, after the token %s is revoked, authorize refuses that token and its descendants, and no other token",
  (revoked) => {
    const { issuer, revocations } = fixture();
    const nodes = tree({ name: "r", token: mint(issuer), ancestors: [] }, 3);
    expect(nodes).toHaveLength(15);
    for (const { token } of nodes) expect(codes(issuer.authorize(token, GET))).toEqual([]);

    const target = nodes.find(({ name }) => name === revoked);
    const revocation = issuer.revocationOf(target?.token ?? "");
    if (revocation.ok) revocations.add(revocation.entry);
    for (const { name, token, ancestors } of nodes) {
      const isDead = name === revoked || ancestors.includes(revoked);
      expect([name, codes(issuer.authorize(token, GET))]).toEqual([
        name,
        isDead ? ["revoked"] : [],
      ]);
    }
  },
);

test("revocationId, attenuate and inspect give the same revocation id as the issuer", () => {
  const { issuer } = fixture();
  const minted = issuer.mint({ grant: "files", operations: ["get"] });
  expect(revocationId(minted.token)).toBe(minted.revocationId);
  const child = attenuate(minted.token, { purpose: "x" });
  if (!child.ok) throw new Error("refused");
  const revocation = issuer.revocationOf(child.token);
  const ids = [revocationId(child.token), inspect(child.token).revocationId, child.revocationId];
  for (const id of ids) expect(revocation).toMatchObject({ ok: true, entry: { id } });
});

test("children with equal hops are the same token without a nonce, and have different revocation ids with nonces", () => {
  const { issuer } = fixture();
  const parent = mint(issuer);
  const twin = (): string => attenuated(parent, { operations: ["get"] }, { nonce: false });
  expect(twin()).toBe(twin());
  expect(revocationId(twin())).toBe(revocationId(twin()));
  const distinct = (): string => attenuated(parent, { operations: ["get"], nonce: createNonce() });
  expect(revocationId(distinct())).not.toBe(revocationId(distinct()));
});
