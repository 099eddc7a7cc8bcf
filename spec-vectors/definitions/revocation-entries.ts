import { allowed, type CheckSubject, EXPIRES, identifier, NOW, refused } from "./check-test.js";
import { alice, CAPABILITY, kept, link, listed, RETRIEVE, trusted } from "./revocation-parts.js";

export const revocationEntries: CheckSubject = {
  subject: "revocation of capabilities, keys and principals",
  comment: "Section 8: entries of the other kinds, and lists that are too old",
  tests: [
    refused(
      "the capability",
      "Revocation",
      listed({ kind: "capability", id: CAPABILITY }),
      "revoked",
    ),
    kept("another capability", listed({ kind: "capability", id: "cap_AAAAAAAAAAAAAAAB" })),
    kept("a capability whose id is the beginning of this one's", {
      ...listed({ kind: "capability", id: CAPABILITY }),
      identifier: identifier({ id: `${CAPABILITY}A` }),
    }),
    kept(
      "a capability in another case",
      listed({ kind: "capability", id: "cap_aAAAAAAAAAAAAAAA" }),
    ),
    kept("a capability's id as a key's", listed({ kind: "key", id: CAPABILITY })),
    refused(
      "the key",
      ["Revocation", "KeyRotation"],
      listed({ kind: "key", id: "key_a" }),
      "revoked",
    ),
    kept("another key", listed({ kind: "key", id: "key_b" })),
    kept("a key in another case", listed({ kind: "key", id: "Key_a" })),
    refused(
      "the principal, issued a second before",
      "Revocation",
      listed(alice("2026-01-01T00:00:01Z")),
      "revoked",
    ),
    kept("the principal, issued at that very moment", listed(alice("2026-01-01T00:00:00Z"))),
    kept("the principal, issued a second after", listed(alice("2025-12-31T23:59:59Z"))),
    refused(
      "the principal, in the far future",
      ["Revocation", "TimeEdge"],
      listed(alice("9999-12-31T23:59:59Z")),
      "revoked",
    ),
    kept(
      "another principal",
      listed({ kind: "principal", id: "user:bob", before: "2027-01-01T00:00:00Z" }),
    ),
    kept(
      "a principal in another case",
      listed({ kind: "principal", id: "User:alice", before: "2027-01-01T00:00:00Z" }),
    ),
    kept("a principal, where the token has none", {
      ...listed(alice("2027-01-01T00:00:00Z")),
      identifier: identifier({ principal: undefined }),
    }),
    refused(
      "two entries for the principal, of which the first concerns the token",
      ["Revocation", "AllReported"],
      listed(alice("2027-01-01T00:00:00Z"), alice("2025-01-01T00:00:00Z")),
      "revoked",
    ),
    refused(
      "two entries for the principal, of which the last concerns the token",
      ["Revocation", "AllReported"],
      listed(alice("2025-01-01T00:00:00Z"), alice("2027-01-01T00:00:00Z")),
      "revoked",
    ),
    refused(
      "link, capability, key and principal at once",
      ["Revocation", "AllReported"],
      {
        revocations: (token) => ({
          entries: [
            link(token, 1),
            { kind: "capability", id: CAPABILITY },
            { kind: "key", id: "key_a" },
            alice("2027-01-01T00:00:00Z"),
          ],
        }),
      },
      "revoked@1",
      "revoked",
    ),
    refused(
      "an entry that could have been removed counts while it is there",
      ["Revocation", "TimeEdge"],
      listed({ kind: "capability", id: CAPABILITY, until: "2026-01-01T00:10:00Z" }),
      "revoked",
    ),
    allowed("a list trusted for one more second", "StaleList", trusted("2026-01-01T00:30:01Z")),
    refused("a list trusted until this very second", "StaleList", trusted(NOW), "revocation_stale"),
    refused(
      "a list trusted until a second ago",
      "StaleList",
      trusted("2026-01-01T00:29:59Z"),
      "revocation_stale",
    ),
    refused(
      "an empty list is no reason to trust it",
      "StaleList",
      trusted("0000-01-01T00:00:00Z"),
      "revocation_stale",
    ),
    allowed(
      "a list trusted until the last second of all",
      "StaleList",
      trusted("9999-12-31T23:59:59Z"),
    ),
    refused(
      "a stale list that has an entry for the token",
      ["StaleList", "AllReported"],
      trusted(NOW, [{ kind: "capability", id: CAPABILITY }]),
      "revoked",
      "revocation_stale",
    ),
    refused(
      "revoked and refused by a rule",
      ["Revocation", "AllReported"],
      {
        ...listed({ kind: "key", id: "key_a" }),
        links: [EXPIRES, RETRIEVE],
        ask: { operation: "search" },
      },
      "revoked",
      "operation_denied@2",
    ),
    refused(
      "a stale list and a rule not met",
      ["StaleList", "AllReported"],
      { ...trusted(NOW), links: [EXPIRES, RETRIEVE], ask: { operation: "search" } },
      "revocation_stale",
      "operation_denied@2",
    ),
  ],
};
