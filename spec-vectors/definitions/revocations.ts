import { bytes } from "../build/bytes.js";
import { append, chain, revocationId } from "../build/chain.js";
import { allowed, type CheckSubject, EXPIRES, ID, KEY_B, refused } from "./check-test.js";
import {
  ASK,
  ASKING,
  inDischarge,
  kept,
  link,
  listed,
  NESTED,
  parentOf,
  RETRIEVE,
  revoking,
  sibling,
  TWIN_1,
  TWIN_2,
} from "./revocation-parts.js";

export const revocations: CheckSubject = {
  subject: "revocation",
  comment: "Section 8: which tokens an entry of the list concerns",
  tests: [
    kept("an empty list", {}),
    kept(
      "entries for other things",
      listed(
        { kind: "link", id: "rv_AAAAAAAAAAAAAAAAAAAAAA" },
        { kind: "capability", id: "cap_BBBBBBBBBBBBBBBB" },
        { kind: "key", id: "key_b" },
        { kind: "principal", id: "user:bob", before: "2030-01-01T00:00:00Z" },
      ),
    ),
    refused(
      "link 0, the whole capability",
      "RevocationTree",
      revoking(0, EXPIRES, RETRIEVE),
      "revoked@0",
    ),
    refused(
      "link 1, the issuer's hop",
      "RevocationTree",
      revoking(1, EXPIRES, RETRIEVE),
      "revoked@1",
    ),
    refused(
      "the last link, the token itself",
      "RevocationTree",
      revoking(2, EXPIRES, RETRIEVE),
      "revoked@2",
    ),
    refused(
      "a link in the middle: all that descends from it",
      "RevocationTree",
      revoking(2, EXPIRES, RETRIEVE, TWIN_1, TWIN_2),
      "revoked@2",
    ),
    refused(
      "the last of 32 links",
      ["RevocationTree", "Limit"],
      revoking(32, EXPIRES, ...Array<string>(31).fill(RETRIEVE)),
      "revoked@32",
    ),
    allowed("a child is revoked: its parent lives", "RevocationTree", {
      links: [EXPIRES, RETRIEVE],
      revocations: (token) => ({ entries: [link(append(token, TWIN_1), 3)] }),
    }),
    allowed("a grandchild is revoked: the grandparent lives", "RevocationTree", {
      links: [EXPIRES],
      revocations: (token) => ({ entries: [link(append(append(token, TWIN_1), TWIN_2), 3)] }),
    }),
    allowed(
      "a sibling is revoked: the token lives",
      "RevocationTree",
      sibling([EXPIRES, TWIN_1], TWIN_2),
    ),
    refused(
      "twins without a nonce are one link: both die",
      "RevocationTree",
      sibling([EXPIRES, RETRIEVE], RETRIEVE),
      "revoked@2",
    ),
    allowed("a cousin is revoked: the token lives", "RevocationTree", {
      links: [EXPIRES, TWIN_1, RETRIEVE],
      revocations: (token) => ({
        entries: [link(append(append(parentOf(parentOf(token)), TWIN_2), RETRIEVE), 3)],
      }),
    }),
    allowed("the same links under another key are other links", "RevocationTree", {
      revocations: () => ({ entries: [link(chain(KEY_B.secret, ID, [EXPIRES]), 1)] }),
    }),
    refused(
      "two links of one chain",
      ["RevocationTree", "AllReported"],
      {
        links: [EXPIRES, RETRIEVE],
        revocations: (token) => ({ entries: [link(token, 0), link(token, 2)] }),
      },
      "revoked@0",
      "revoked@2",
    ),
    refused(
      "a third-party caveat's link",
      ["Revocation", "Discharge"],
      { ...ASKING, revocations: (token) => ({ entries: [link(token, 2)] }) },
      "revoked@2",
    ),
    refused("a discharge's first link", ["Revocation", "Discharge"], inDischarge(0), "revoked@0/1"),
    refused("a discharge's last link", ["Revocation", "Discharge"], inDischarge(1), "revoked@1/1"),
    allowed("the hash of a discharge's bound signature is no link", ["Revocation", "Discharge"], {
      ...ASKING,
      revocations: (_, [one]) => ({
        entries: [{ kind: "link", id: revocationId(one?.signature ?? bytes("")) }],
      }),
    }),
    refused(
      "a nested discharge's link",
      ["Revocation", "Discharge"],
      {
        links: [EXPIRES, ASK],
        discharges: [
          { of: NESTED, links: [RETRIEVE] },
          { of: ASK, links: [NESTED] },
        ],
        revocations: (_, [nested]) => ({ entries: [link(nested, 1)] }),
      },
      "revoked@1/1",
    ),
    allowed("the hash of a tag without its prefix is no revocation id", "Revocation", {
      revocations: (token) => ({
        entries: [
          {
            kind: "link",
            id: `rv_${Buffer.from(token.signature.subarray(0, 16)).toString("base64url")}`,
          },
        ],
      }),
    }),
  ],
};
