import { third } from "../build/chain.js";
import { allowed, type CheckSubject, EXPIRES, GRANT, identifier, refused } from "./check-test.js";
import { acting, denied, KNOWN, knowing, READ, RETRIEVE, WRITE } from "./grant-parts.js";

const ASK = third("ask");
const NO_HOP_NAMES_OPERATIONS = { links: [EXPIRES, '{"purpose":"x"}'] };

export const grants: CheckSubject = {
  subject: "grant",
  comment: "Section 7, step 5: the token's grant is one that the service acts under",
  tests: [
    allowed("the token's", ["Normal", "Grant"], acting(GRANT)),
    allowed("a set of the token's alone", "Grant", acting([GRANT])),
    allowed("a set that has the token's at its end", "Grant", acting(["a", "b", GRANT])),
    allowed("a set that has the token's twice", "Grant", acting([GRANT, GRANT])),
    denied("another", acting("documents:write")),
    denied("a set without the token's", acting(["documents:search", "documents:write"])),
    denied("another, and no hop names operations", {
      ...NO_HOP_NAMES_OPERATIONS,
      ...acting("documents:write"),
    }),
    denied("another, and a hop names the operation", {
      links: [EXPIRES, RETRIEVE],
      ...acting("documents:write"),
    }),
    denied("in another case", acting("Documents:Read")),
    denied("the beginning of the token's", acting("documents")),
    denied("more than the token's", acting("documents:read:all")),
    denied("the end of the token's", acting("read")),
    denied("a space behind it", acting("documents:read ")),
    denied("a space before it", acting(" documents:read")),
    denied("a newline behind it", acting("documents:read\n")),
    denied("the token's in quotes", acting('"documents:read"')),
    denied("a set that holds the token's only in parts", acting(["documents", ":", "read"])),
    denied("two grants in one text", acting("documents:read,documents:write")),
    denied("* is no wildcard", acting("*")),
    denied("* in a set is no wildcard", acting(["*", "documents:*"])),
    denied("the empty string", acting("")),
    denied("the name of an array's own member", acting(["length", "constructor"])),
    denied(
      "another normal form",
      { identifier: identifier({ grant: "caf\u00e9" }), ...acting("cafe\u0301") },
      ["Unicode"],
    ),
    allowed("beyond ASCII", ["Grant", "Unicode"], {
      identifier: identifier({ grant: "caf\u00e9" }),
      ...acting(["caf\u00e9"]),
    }),
    denied(
      "a letter that folds to the token's",
      { identifier: identifier({ grant: "k" }), ...acting("\u212a") },
      ["Unicode"],
    ),
    denied("a token whose grant is *", {
      identifier: identifier({ grant: "*" }),
      ...acting(GRANT),
    }),
    allowed("a token whose grant is *, under the grant of that name", "Grant", {
      identifier: identifier({ grant: "*" }),
      ...acting("*"),
    }),
    denied(
      "another, and a discharge whose identifier is one with the right grant",
      {
        identifier: identifier({ grant: "documents:write" }),
        links: [EXPIRES, third(identifier({}))],
        discharges: [{ of: third(identifier({})) }],
        ...acting(GRANT),
      },
      ["Discharge"],
    ),
    allowed("the token's, and a discharge whose identifier has another", ["Grant", "Discharge"], {
      links: [EXPIRES, third(identifier({ grant: "documents:write" }))],
      discharges: [{ of: third(identifier({ grant: "documents:write" })) }],
    }),
    denied("another, with a discharge that allows the call", {
      links: [EXPIRES, ASK],
      discharges: [{ of: ASK, links: [RETRIEVE] }],
      ...acting("documents:write"),
    }),
  ],
};

export const knownGrants: CheckSubject = {
  subject: "grants that the issuer knows",
  comment: "Section 7, step 5: the operation is one of the token's grant, whatever the hops say",
  tests: [
    allowed("an operation of the grant", "Grant", knowing({ grant: READ })),
    allowed(
      "the last operation of the grant",
      "Grant",
      knowing({ grant: READ, operation: "search" }),
    ),
    allowed(
      "an operation that two grants have",
      "Grant",
      knowing({ grant: READ, operation: "list" }),
    ),
    allowed("a set of both grants", "Grant", knowing({ grant: [READ, WRITE], operation: "list" })),
    denied("an operation of another grant", knowing({ grant: READ, operation: "delete" })),
    denied("an operation of no grant", knowing({ grant: READ, operation: "format" })),
    denied("no hop names operations", {
      ...knowing({ grant: READ, operation: "delete" }),
      ...NO_HOP_NAMES_OPERATIONS,
    }),
    denied("no hop names operations, and the issuer does not know its grants", {
      ...NO_HOP_NAMES_OPERATIONS,
      ...acting(WRITE, { operation: "delete" }),
    }),
    allowed(
      "no hop names operations, the issuer does not know its grants, and the grant is the token's",
      "Grant",
      { ...NO_HOP_NAMES_OPERATIONS, ...acting(READ, { operation: "delete" }) },
    ),
    denied("a hop names an operation of another grant", {
      ...knowing({ grant: READ, operation: "delete" }),
      links: [EXPIRES, '{"operations":["delete","retrieve"]}'],
    }),
    denied("every hop names an operation of another grant", {
      ...knowing({ grant: READ, operation: "delete" }),
      links: [
        '{"expires":"2026-01-01T01:00:00Z","operations":["delete"]}',
        '{"operations":["delete"]}',
      ],
    }),
    denied("a set of both grants adds nothing to the token's", {
      ...knowing({ grant: [READ, WRITE], operation: "delete" }),
    }),
    denied("an operation in another case", knowing({ grant: READ, operation: "Retrieve" })),
    denied("the beginning of an operation", knowing({ grant: READ, operation: "retriev" })),
    denied("an operation with a space behind it", knowing({ grant: READ, operation: "retrieve " })),
    denied("the empty operation", knowing({ grant: READ, operation: "" })),
    denied("an operation named like an object's own method", {
      ...knowing({ grant: READ, operation: "constructor" }),
    }),
    denied("a known grant that is not the token's", knowing({ grant: WRITE, operation: "delete" })),
    denied(
      "a known grant that is not the token's, and an operation that both have",
      knowing({ grant: WRITE, operation: "list" }),
    ),
    denied("a token whose grant the issuer does not know", {
      ...knowing({ grant: READ }),
      identifier: identifier({ grant: "documents:admin" }),
    }),
    denied("a token whose grant the issuer does not know, and a set of all it knows", {
      ...knowing({ grant: [READ, WRITE], operation: "list" }),
      identifier: identifier({ grant: "documents:admin" }),
    }),
    denied("a token whose grant the issuer knows in another case", {
      ...knowing({ grant: READ }),
      identifier: identifier({ grant: "Documents:read" }),
    }),
    denied("a grant without operations", {
      ...knowing({ grant: READ }),
      grants: [{ id: READ, operations: [] }],
    }),
    denied("a pattern is no wildcard among a grant's operations", {
      ...knowing({ grant: READ }),
      grants: [{ id: READ, operations: ["retr*", "**"] }],
    }),
    allowed("left out, where one known grant has the operation", "Grant", knowing({ grant: null })),
    allowed("left out, where the only known grant has the operation", "Grant", {
      ask: { grant: null },
      grants: KNOWN.slice(0, 1),
    }),
    denied("left out, where one known grant has the operation, which is not the token's", {
      ...knowing({ grant: null, operation: "delete" }),
    }),
    denied("left out, the operation is another grant's, and a hop names it", {
      ...knowing({ grant: null, operation: "delete" }),
      links: [EXPIRES, '{"operations":["delete"]}'],
    }),
    denied("left out, and the issuer does not know the token's", {
      ...knowing({ grant: null }),
      identifier: identifier({ grant: "documents:admin" }),
    }),
    refused(
      "an operation of another grant that a hop does not name either",
      ["Grant", "AllReported"],
      { ...knowing({ grant: READ, operation: "delete" }), links: [EXPIRES, RETRIEVE] },
      "grant_denied",
      "operation_denied@2",
    ),
  ],
};
