import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { attenuate } from "../../src/capability/attenuate.js";
import type { Hop } from "../../src/caveats/hop.js";
import { encodeHop } from "../../src/caveats/write-hop.js";
import { createKeyring } from "../../src/issuer/keyring.js";
import { anyHop, invocation } from "../caveats/arbitraries.js";
import { sized } from "../support/size.js";
import { append, codes, fixture, mint, mintOpen, misuse } from "./support.js";

const CALL_CODES = ["operation_denied", "resource_denied", "constraint_violated"];

describe("issuer.standing", () => {
  test("ignores operation, handles and arguments, and returns the authority that is left", () => {
    const { issuer } = fixture();
    const token = mint(issuer, { resourceHandles: ["rh_1"], constraints: { n: 1 } });
    const standing = issuer.standing(token);
    expect(standing).toMatchObject({
      allowed: true,
      capability: {
        grant: "files",
        authority: { operations: ["get", "put"], resourceHandles: ["rh_1"] },
      },
    });
    expect(codes(issuer.authorize(token, { grant: "files", operation: "" }))).toEqual(CALL_CODES);
  });

  test("depends on invoker, audience and time", () => {
    const { issuer } = fixture({ audience: "here" });
    const token = mint(issuer, { invokers: ["a"], audience: ["here"] });
    expect(codes(issuer.standing(token))).toEqual(["invoker_denied"]);
    expect(codes(issuer.standing(token, { invoker: "b", audience: "there" }))).toEqual([
      "audience_denied",
      "invoker_denied",
    ]);
    expect(issuer.standing(token, { invoker: "a" }).allowed).toBe(true);
    expect(codes(issuer.standing(token, { invoker: "a", time: new Date("2031-01-01") }))).toEqual([
      "expired",
    ]);
  });

  test("refuses a malformed, forged or revoked token and unknown hops, as every check does", () => {
    const { issuer, revocations } = fixture();
    const token = mint(issuer);
    expect(codes(issuer.standing("noise"))).toEqual(["token_malformed"]);
    expect(codes(issuer.standing(`${token.slice(0, -4)}AAAA`))).toEqual(["signature_mismatch"]);
    expect(codes(issuer.standing(append(token, '{"cnf":1}')))).toEqual(["caveat_unknown"]);
    expect(codes(issuer.standing(append(token, "{}")))).toEqual(["caveat_malformed"]);
    const sealed = append(append(token, '{"maxFurtherHops":0}'), '{"purpose":"p"}');
    expect(codes(issuer.standing(sealed))).toEqual(["too_many_hops"]);
    const revocation = issuer.revocationOf(token);
    if (revocation.ok) revocations.add(revocation.entry);
    expect(codes(issuer.standing(token))).toEqual(["revoked"]);
  });

  test("throws a TypeError for an unknown property of the presentation", () => {
    const { issuer } = fixture();
    const operation = JSON.parse('{"opration":"get"}');
    expect(misuse(() => issuer.standing(mint(issuer), operation))).toContain(
      "presentation.opration: unknown property",
    );
  });

  test("gives the reasons of authorize except those about the call itself", () => {
    const { issuer } = fixture();
    const root = mintOpen(issuer);
    let stands = 0;
    fc.assert(
      fc.property(fc.array(anyHop, { maxLength: 3 }), invocation, (hops, asked) => {
        const token = hops.reduce((one, hop) => append(one, encodeHop(hop)), root);
        const { grant: _, operation: __, resourceHandles: ___, arguments: ____, ...by } = asked;
        const decision = issuer.authorize(token, asked);
        const standing = issuer.standing(token, by);
        expect(codes(standing)).toEqual(
          codes(decision).filter((code) => !CALL_CODES.includes(code)),
        );
        if (standing.allowed) stands++;
        if (decision.allowed) expect(standing).toEqual(decision);
      }),
      { numRuns: sized(1000) },
    );
    expect(stands).toBeGreaterThan(sized(100, 5));
  });
});

describe("the stored record of a capability", () => {
  test("is enough to remake its token byte for byte, and contains no secret", () => {
    const { issuer, keys } = fixture();
    const request = {
      grant: "files",
      principal: "älice",
      operations: ["get"],
      purpose: "\ufeffwhy \u{1f600}",
    };
    const { capability, identifier } = issuer.issue(() => request);
    const hop = new TextDecoder("utf-8", { ignoreBOM: true }).decode(encodeHop(capability.hop));
    expect(issuer.remake({ identifier, hop })).toBe(capability.token);
    const tail = Buffer.from(capability.token, "base64url").subarray(-32);
    const kept = Buffer.from(identifier + hop);
    expect(kept.includes(tail) || kept.includes(tail.toString("base64url"))).toBe(false);
    expect(kept.includes(keys.exportJwkSet().keys[0]?.k ?? "absent")).toBe(false);
  });

  test("remakes a token narrowed after issue() if the record has the further hops in order", () => {
    const { issuer } = fixture();
    const { capability, identifier } = issuer.issue(() => ({ grant: "files", anyOperation: true }));
    const nonce = "AAAAAAAAAAAAAAAA";
    const hops: readonly Hop[] = [
      { constraints: { size: { max: 10 } }, nonce },
      { maxFurtherHops: 0, nonce },
    ];
    let token = capability.token;
    for (const hop of hops) {
      const child = attenuate(token, hop);
      token = child.ok ? child.token : "";
    }
    const hop = JSON.stringify(capability.hop);
    const further = hops.map((one) => JSON.stringify(one));
    expect(issuer.remake({ identifier, hop, further })).toBe(token);
    expect(issuer.remake({ identifier, hop, further: [] })).toBe(capability.token);
    expect(issuer.remake({ identifier, hop, further: further.toReversed() })).not.toBe(token);
  });

  test("remakes another token if the record was changed, and no token if the issuer lacks its key", () => {
    const { issuer } = fixture();
    const { capability, identifier } = issuer.issue(() => ({ grant: "files", anyOperation: true }));
    const hop = JSON.stringify(capability.hop);
    const wider = hop.replace("2030", "2031");
    expect(issuer.remake({ identifier, hop: wider })).not.toBe(capability.token);
    const other = fixture({ keys: createKeyring() });
    expect(fixture().issuer.remake({ identifier, hop })).toBe(capability.token);
    expect(other.issuer.remake({ identifier, hop })).toBe(undefined);
  });

  test("is refused if its identifier is not canonical", () => {
    const { issuer } = fixture();
    for (const identifier of ["", "{}", "[]", ' {"v":1}', "\ud800"]) {
      expect(() => issuer.remake({ identifier, hop: "{}" })).toThrow(/identifier|capability/);
    }
  });
});

describe("a draft passed to issue()", () => {
  test("has the capability's id in advance, and seals handles for that capability alone", () => {
    const { issuer } = fixture();
    const ids: string[] = [];
    const { capability } = issuer.issue((draft) => {
      ids.push(draft.id);
      return {
        grant: "files",
        operations: ["get"],
        resourceHandles: [...draft.handles([7, 2 ** 53 - 1, 7]).values()],
      };
    });
    expect(ids).toEqual([capability.id]);
    expect(capability.hop.resourceHandles).toHaveLength(2);
    const decision = issuer.standing(capability.token);
    if (!decision.allowed) throw new Error("it does not stand");
    const opened = issuer.openHandles(decision.capability, capability.hop.resourceHandles ?? []);
    expect(new Set(opened.values())).toEqual(new Set([7, 2 ** 53 - 1]));
  });
});
