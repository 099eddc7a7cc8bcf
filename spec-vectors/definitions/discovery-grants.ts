import type { JsonValue } from "./check-test.js";
import { card, speaking } from "./discovery-parts.js";
import { type Card, type DiscoverySubject, refused, usable } from "./discovery-test.js";

const READ = "documents:read";

/** Returns a card that offers one grant. */
function offering(members: { readonly [name: string]: JsonValue } = {}): Card {
  return card({ grants: [{ id: READ, operations: ["retrieve", "search"], ...members }] });
}

function needing(
  operations: readonly string[] = [],
  more: { readonly attenuable?: boolean; readonly grant?: string } = {},
): { grants: [{ grant: string; operations: readonly string[]; attenuable?: boolean }] } {
  return { grants: [{ grant: READ, operations, ...more }] };
}

const LEGACY = { legacy: true };
const EVERYTHING = { id: "documents:admin", operations: ["*"], ...LEGACY };

export const offeredGrants: DiscoverySubject = {
  type: "discover",
  subject: "grants",
  comment: "Section 14.5: a required grant is offered, with its operations, attenuable, not legacy",
  tests: [
    usable("offered", ["Normal", "OfferedGrant"], offering(), needing()),
    usable("one operation", ["Normal", "OfferedGrant"], offering(), needing(["search"])),
    usable("every operation", "OfferedGrant", offering(), needing(["search", "retrieve"])),
    usable(
      "offered at the top of the card",
      ["OfferedGrant", "Places"],
      card({ top: { capabilityGrants: [{ id: READ, operations: ["retrieve"] }] } }),
      needing(["retrieve"]),
    ),
    usable(
      "offered at the top of the card, in snake_case",
      ["OfferedGrant", "Places"],
      card({ top: { capability_grants: [{ id: READ, operations: ["retrieve"] }] } }),
      needing(["retrieve"]),
    ),
    usable(
      "offered in both places",
      ["OfferedGrant", "Places"],
      card({
        top: { capabilityGrants: [{ id: READ, operations: ["retrieve"] }] },
        grants: [{ id: READ, operations: ["retrieve"] }],
      }),
      needing(["retrieve"]),
    ),
    refused("no grants at all", "OfferedGrant", card(), needing(), "grant_missing"),
    refused(
      "another grant",
      "OfferedGrant",
      offering(),
      needing([], { grant: "documents:write" }),
      "grant_missing",
    ),
    refused(
      "in another case",
      ["OfferedGrant", "SetMembership"],
      offering(),
      needing([], { grant: "Documents:read" }),
      "grant_missing",
    ),
    refused(
      "the beginning of the offered one",
      ["OfferedGrant", "SetMembership"],
      offering(),
      needing([], { grant: "documents" }),
      "grant_missing",
    ),
    refused(
      "named like an object's own member",
      ["OfferedGrant", "ObjectPrototype"],
      offering(),
      needing([], { grant: "constructor" }),
      "grant_missing",
    ),
    refused(
      "one operation more",
      "OfferedGrant",
      offering(),
      needing(["retrieve", "list"]),
      "grant_operation_missing",
    ),
    refused(
      "an operation in another case",
      ["OfferedGrant", "SetMembership"],
      offering(),
      needing(["Search"]),
      "grant_operation_missing",
    ),
    refused(
      "an operation named like an object's own member",
      ["OfferedGrant", "ObjectPrototype"],
      offering(),
      needing(["toString"]),
      "grant_operation_missing",
    ),
    refused(
      "an operation of another offered grant",
      "OfferedGrant",
      card({
        grants: [
          { id: READ, operations: ["retrieve"] },
          { id: "documents:write", operations: ["search"] },
        ],
      }),
      needing(["search"]),
      "grant_operation_missing",
    ),
    usable(
      "attenuable",
      "OfferedGrant",
      offering({ attenuable: true }),
      needing([], { attenuable: true }),
    ),
    refused(
      "that says nothing of being attenuable",
      "OfferedGrant",
      offering(),
      needing([], { attenuable: true }),
      "grant_not_attenuable",
    ),
    refused(
      "not attenuable",
      "OfferedGrant",
      offering({ attenuable: false }),
      needing([], { attenuable: true }),
      "grant_not_attenuable",
    ),
    usable(
      "not attenuable, and need not be",
      "OfferedGrant",
      offering({ attenuable: false }),
      needing([], { attenuable: false }),
    ),
    refused("legacy", "Legacy", offering(LEGACY), needing(["search"]), "legacy_only"),
    usable(
      "legacy, which the caller allows",
      "Legacy",
      offering(LEGACY),
      { ...needing(["search"]), allowLegacy: true },
      { warnings: ["legacy_grant"] },
    ),
    usable("a legacy grant that is not required", "Legacy", offering(LEGACY)),
    usable(
      "a grant that says that it is not legacy",
      "Legacy",
      offering({ legacy: false }),
      needing(),
    ),
    usable(
      "a legacy grant's * is every operation",
      "Legacy",
      offering({ ...LEGACY, operations: ["*"] }),
      { ...needing(["anything"]), allowLegacy: true },
      { warnings: ["legacy_grant"] },
    ),
    usable(
      "* is every operation of another grant, too",
      "OfferedGrant",
      offering({ operations: ["*"] }),
      needing(["search"]),
    ),
    refused(
      "an operation that only begins like a pattern",
      ["OfferedGrant", "SetMembership"],
      offering({ operations: ["sea*"] }),
      needing(["search"]),
      "grant_operation_missing",
    ),
    refused(
      "no operations at all",
      "OfferedGrant",
      card({ grants: [{ id: READ }] }),
      needing(["search"]),
      "grant_operation_missing",
    ),
    refused(
      "covered by a legacy grant over everything",
      "Legacy",
      card({ grants: [EVERYTHING] }),
      needing(["search"]),
      "legacy_only",
    ),
    usable(
      "covered by a legacy grant over everything, which the caller allows",
      "Legacy",
      card({ grants: [EVERYTHING] }),
      { ...needing(["search"]), allowLegacy: true },
      { warnings: ["legacy_grant"] },
    ),
    usable(
      "offered beside a legacy grant over everything",
      "Legacy",
      card({ grants: [EVERYTHING, { id: READ, operations: ["search"] }] }),
      needing(["search"]),
    ),
    refused(
      "a grant over everything that is not legacy covers no other",
      "OfferedGrant",
      card({ grants: [{ id: "documents:admin", operations: ["*"] }] }),
      needing(["search"]),
      "grant_missing",
    ),
    refused(
      "a legacy grant over something covers no other",
      "Legacy",
      card({ grants: [{ id: "documents:admin", operations: ["search"], legacy: true }] }),
      { ...needing(["search"]), allowLegacy: true },
      "grant_missing",
    ),
    refused(
      "a legacy grant without a required operation, which the caller allows",
      "Legacy",
      offering(LEGACY),
      { ...needing(["list"]), allowLegacy: true },
      "grant_operation_missing",
    ),
    refused(
      "a legacy grant that lacks everything",
      ["Legacy", "AllReported"],
      offering({ ...LEGACY, attenuable: false }),
      needing(["list"], { attenuable: true }),
      ...(["legacy_only", "grant_operation_missing", "grant_not_attenuable"] as const),
    ),
    refused(
      "a card that lacks everything",
      "AllReported",
      card({
        top: { maxProtocolVersion: "0.9" },
        flags: { artifact_streaming: true },
        grants: [{ id: READ, operations: [], legacy: true, attenuable: false }],
        interfaces: [speaking({}, "WAMP")],
      }),
      {
        capabilities: ["artifact_streaming", "pause_resume"],
        allowDeprecated: false,
        grants: [
          { grant: READ, operations: ["retrieve"], attenuable: true },
          { grant: "documents:write" },
        ],
      },
      ...(["version_incompatible", "interface_unsupported", "capability_undeclared"] as const),
      ...["capability_deprecated", "grant_missing", "grant_operation_missing"],
      ...["grant_not_attenuable", "legacy_only"],
    ),
  ],
};
