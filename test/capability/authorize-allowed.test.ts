import { expect, test } from "vitest";
import { createKeyring } from "../../src/issuer/index.js";
import { attenuated, codes, fixture, GET, mint, NOW } from "./support.js";

test("authorize returns the verified capability with an allowed call", () => {
  const { issuer, keys } = fixture();
  const minted = issuer.mint({ grant: "files", principal: "alice", operations: ["get", "put"] });
  const child = attenuated(
    minted.token,
    { operations: ["get"], purpose: "read only" },
    { nonce: false },
  );
  const decision = issuer.authorize(child, GET);
  expect(decision).toEqual({
    allowed: true,
    capability: {
      id: minted.id,
      grant: "files",
      issuer: "agent",
      keyId: keys.minting.kid,
      principal: "alice",
      issued: "2030-01-01T00:00:00Z",
      expires: "2030-01-01T00:15:00Z",
      hops: [
        {
          number: 1,
          hop: { expires: "2030-01-01T00:15:00Z", operations: ["get", "put"] },
          revocationId: minted.revocationId,
        },
        {
          number: 2,
          hop: { operations: ["get"], purpose: "read only" },
          revocationId: expect.stringMatching(/^rv_[\w-]{22}$/),
        },
      ],
      authority: { operations: ["get"], expires: "2030-01-01T00:15:00Z" },
      revocationIds: [expect.stringMatching(/^rv_/), minted.revocationId, expect.any(String)],
    },
  });
});

test("a call without an audience is judged with the issuer's own audience", () => {
  const { issuer } = fixture({ audience: "files-service" });
  const token = mint(issuer, { audience: ["files-service"] });
  expect(codes(issuer.authorize(token, GET))).toEqual([]);
  expect(codes(issuer.authorize(token, { ...GET, audience: "other" }))).toEqual([
    "audience_denied",
  ]);
});

test("if a call has a time, the time of the call decides whether the token has expired, not the clock", () => {
  const { issuer } = fixture();
  const token = mint(issuer, { expires: "2030-01-01T00:01:00Z" });
  const at = (time: string): string[] =>
    codes(issuer.authorize(token, { ...GET, time: new Date(time) }));
  expect(at("2030-01-01T00:00:59.999Z")).toEqual([]);
  expect(at("2030-01-01T00:01:00.000Z")).toEqual(["expired"]);
});

test("if a call has no time, the clock decides whether the token has expired", () => {
  let now = NOW;
  const { issuer } = fixture({ clock: () => now });
  const token = mint(issuer);
  expect(codes(issuer.authorize(token, GET))).toEqual([]);
  now += 15 * 60_000;
  expect(codes(issuer.authorize(token, GET))).toEqual(["expired"]);
});

test("a token is allowed after the rotation of its key, and refused after the retirement of its key", () => {
  const keys = createKeyring();
  const token = mint(fixture({ keys }).issuer);
  const rotated = keys.rotate();
  const { issuer } = fixture({ keys: rotated });
  expect(codes(issuer.authorize(token, GET))).toEqual([]);
  expect(codes(issuer.authorize(mint(issuer), GET))).toEqual([]);
  const retired = fixture({ keys: rotated.retire(keys.minting.kid) });
  expect(codes(retired.issuer.authorize(token, GET))).toEqual(["unknown_key"]);
});
