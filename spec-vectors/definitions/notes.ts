/** The class of bugs that a flag's tests detect. */
type BugType =
  | "BASIC"
  | "AUTH_BYPASS"
  | "ESCALATION"
  | "MISSING_STEP"
  | "PARSER_DIFFERENTIAL"
  | "TYPE_CONFUSION"
  | "EDGE_CASE"
  | "DENIAL_OF_SERVICE"
  | "INFORMATION_LEAK"
  | "KNOWN_BUG";

interface Note {
  readonly bugType: BugType;
  readonly description: string;
}

function note(bugType: BugType, description: string): Note {
  return { bugType, description };
}

/** A subject of tests. A test has one or more flags. */
export type Flag =
  | "Normal"
  | "KnownAnswer"
  | "SpecExample"
  | "Truncated"
  | "StrictV1"
  | "StrictV2"
  | "StrictJson"
  | "StrictBase64"
  | "Lenient"
  | "WireForm"
  | "Limit"
  | "Forged"
  | "Binding"
  | "Discharge"
  | "DischargeGraph"
  | "Identifier"
  | "WrongIssuer"
  | "KeyRotation"
  | "ServiceKey"
  | "CanonicalForm"
  | "UnknownRestriction"
  | "MalformedHop"
  | "SetMembership"
  | "Unicode"
  | "MissingValue"
  | "NumberEdge"
  | "TypeConfusion"
  | "TimeEdge"
  | "ObjectPrototype"
  | "Escalation"
  | "Delegation"
  | "Expiry"
  | "Revocation"
  | "RevocationTree"
  | "StaleList"
  | "Grant"
  | "Misuse"
  | "OrderOfSteps"
  | "AllReported"
  | "Declaration"
  | "OlderForm"
  | "Places"
  | "Contradiction"
  | "VersionRange"
  | "MalformedVersion"
  | "Interface"
  | "OfferedGrant"
  | "Legacy"
  | "Deprecation"
  | "MalformedCard"
  | "Chain"
  | "ChainBounds"
  | "ChainUnknown"
  | "Propagation"
  | "Reliance"
  | "Stability"
  | "PathEscape"
  | "UrlEscape"
  | "PointerEscape"
  | "ClosedList"
  | "OlderChecker"
  | "NpmMacaroonBug"
  | "PymacaroonsBug"
  | "LibmacaroonsBug"
  | "GoMacaroonBug"
  | "ReencodingBug"
  | "SkippedCaveatBug"
  | "AgentAuthBug";

export const NOTES: Readonly<Record<Flag, Note>> = {
  Normal: note("BASIC", "An ordinary case that everyone must get right."),
  KnownAnswer: note(
    "BASIC",
    "A signature that libmacaroons, Go, JavaScript and Python implementations all give.",
  ),
  SpecExample: note("BASIC", "An example given in the specification's text."),
  Truncated: note(
    "PARSER_DIFFERENTIAL",
    "A token cut short, as on paste. It is distinguished from a malformed one and never read as a shorter token.",
  ),
  StrictV1: note("PARSER_DIFFERENTIAL", "Something that the v1 binary form does not allow."),
  StrictV2: note("PARSER_DIFFERENTIAL", "Something that the v2 binary form does not allow."),
  StrictJson: note("PARSER_DIFFERENTIAL", "Something that the JSON forms do not allow."),
  StrictBase64: note(
    "PARSER_DIFFERENTIAL",
    "Base64 that decoders read differently, so that one token would have several texts.",
  ),
  Lenient: note(
    "PARSER_DIFFERENTIAL",
    "An unusual form that readers must accept, since other implementations write it.",
  ),
  WireForm: note(
    "PARSER_DIFFERENTIAL",
    "A well-formed macaroon in a form in which no capability is presented: v2 binary alone is.",
  ),
  Limit: note(
    "DENIAL_OF_SERVICE",
    "A limit, exactly reached or passed by one. What is within it must work everywhere.",
  ),
  Forged: note("AUTH_BYPASS", "A token changed by someone without the key."),
  Binding: note(
    "AUTH_BYPASS",
    "A discharge that is not bound to the token it is presented with, or does not discharge its caveat.",
  ),
  Discharge: note("MISSING_STEP", "Third-party caveats: each needs exactly one discharge."),
  DischargeGraph: note(
    "DENIAL_OF_SERVICE",
    "Discharges that need each other, which takes naive verifiers exponential time or all of the stack.",
  ),
  Identifier: note("PARSER_DIFFERENTIAL", "The identifier has exactly the members of section 6."),
  WrongIssuer: note("AUTH_BYPASS", "A token of another issuer, or under a key that is not there."),
  KeyRotation: note("MISSING_STEP", "Several keys: the token's own is used, and no other."),
  ServiceKey: note(
    "AUTH_BYPASS",
    "A key that is derived for one service. What is made under it is good for that service alone, whatever its hops say.",
  ),
  CanonicalForm: note(
    "PARSER_DIFFERENTIAL",
    "A hop whose bytes are not, or only just are, its RFC 8785 form; two readers could see two hops in it.",
  ),
  UnknownRestriction: note(
    "MISSING_STEP",
    "A restriction that the checker does not know. Skipping it would widen the token.",
  ),
  MalformedHop: note("MISSING_STEP", "A known restriction with a value that it cannot have."),
  SetMembership: note(
    "AUTH_BYPASS",
    "Membership is exact: no folding, no normalizing, no prefixes.",
  ),
  Unicode: note("EDGE_CASE", "Code points beyond ASCII, and the order of UTF-16 code units."),
  MissingValue: note(
    "AUTH_BYPASS",
    "The invocation lacks what a rule speaks about. Absence must never satisfy a rule.",
  ),
  NumberEdge: note("EDGE_CASE", "Numbers at the edges of IEEE 754 doubles and of their text."),
  TypeConfusion: note(
    "TYPE_CONFUSION",
    "A value of another JSON type that loosely typed comparisons take for equal or for in range.",
  ),
  TimeEdge: note("EDGE_CASE", "Moments at the edge of validity and of the calendar."),
  ObjectPrototype: note(
    "TYPE_CONFUSION",
    "Names that objects of some languages have without being given them.",
  ),
  Escalation: note(
    "ESCALATION",
    "A later hop that contradicts or seems to widen an earlier one. Both hold; nothing merges.",
  ),
  Delegation: note("ESCALATION", "How many links may follow, and who may hold them."),
  Expiry: note("MISSING_STEP", "The token's own chain must say when it expires."),
  Revocation: note("MISSING_STEP", "Revocation of a link, a capability, a key or a principal."),
  RevocationTree: note(
    "MISSING_STEP",
    "Revoking a link refuses all that descends from it, and neither its parent nor its siblings.",
  ),
  StaleList: note("MISSING_STEP", "A revocation list that is no longer to be trusted."),
  Grant: note(
    "AUTH_BYPASS",
    "A token's grant is one that the service acts under, and has the operation, whatever the hops say.",
  ),
  Misuse: note(
    "AUTH_BYPASS",
    "A call that does not say under which grant the service acts. It gets no decision, whatever the token is.",
  ),
  OrderOfSteps: note(
    "INFORMATION_LEAK",
    "Steps in the specified order: nothing of a token's contents is reported before its signatures hold.",
  ),
  AllReported: note("MISSING_STEP", "Every reason for a refusal is reported, not only the first."),
  Declaration: note(
    "MISSING_STEP",
    "What a card does not declare, its agent does not have; what is alike declares nothing.",
  ),
  OlderForm: note(
    "EDGE_CASE",
    "A card of A2A before 1.0 has one interface at its top, and one version for all.",
  ),
  Places: note(
    "PARSER_DIFFERENTIAL",
    "A field in each of its places and in both of its spellings.",
  ),
  Contradiction: note(
    "PARSER_DIFFERENTIAL",
    "A card that says two things, so that two readers could see two agents in it.",
  ),
  VersionRange: note("EDGE_CASE", "Versions are numbers, and both bounds are in the range."),
  MalformedVersion: note(
    "PARSER_DIFFERENTIAL",
    "Something that lenient readers take for a version.",
  ),
  Interface: note("MISSING_STEP", "One interface has both the binding and the version."),
  OfferedGrant: note("MISSING_STEP", "A required grant, with its operations, or narrowed further."),
  Legacy: note("AUTH_BYPASS", "A legacy grant is used only where the caller allows it."),
  Deprecation: note("MISSING_STEP", "Deprecated capabilities work with a warning until removed."),
  MalformedCard: note("TYPE_CONFUSION", "A document that is not a card, or only just is one."),
  Chain: note("MISSING_STEP", "Each agent of a chain is named, and has what holds end to end."),
  ChainBounds: note("DENIAL_OF_SERVICE", "Chains that come back, or are longer than allowed."),
  ChainUnknown: note("AUTH_BYPASS", "An agent that does not say to which agents it delegates."),
  Propagation: note(
    "ESCALATION",
    "A capability that holds for an agent only if it holds for each that it delegates to.",
  ),
  Reliance: note("MISSING_STEP", "What an agent relies on in the next one."),
  Stability: note("BASIC", "What a version of the registry may change, and when."),
  PathEscape: note(
    "AUTH_BYPASS",
    "A string that some reader takes for a path below the folder, or for one outside it. Only the strict form is judged.",
  ),
  UrlEscape: note(
    "AUTH_BYPASS",
    "A string that some reader takes for a URL of an allowed host, or for one of another.",
  ),
  PointerEscape: note(
    "TYPE_CONFUSION",
    "An argument that is sought in something other than an object, or has a second name.",
  ),
  ClosedList: note("AUTH_BYPASS", "An argument that is not in a closed list."),
  OlderChecker: note(
    "MISSING_STEP",
    "What a checker of version 1 of the specification answers: it refuses what it does not know.",
  ),
  NpmMacaroonBug: note(
    "KNOWN_BUG",
    "npm macaroon 3.0.4 reads this otherwise; peers/DIFFERENCES.md has the cases where its verdict shows it.",
  ),
  PymacaroonsBug: note(
    "KNOWN_BUG",
    "pymacaroons 0.13.0 gets this wrong (peers/DIFFERENCES.md); macaroons.js and jmacaroons share some of it.",
  ),
  LibmacaroonsBug: note("KNOWN_BUG", "libmacaroons 0.3.0 crashes here, or takes exponential time."),
  GoMacaroonBug: note("KNOWN_BUG", "Go macaroon.v2 2.1.0 silently leaves out such a caveat."),
  ReencodingBug: note(
    "KNOWN_BUG",
    "superfly/macaroon verifies what it parsed and encoded again; the bytes received must be hashed.",
  ),
  SkippedCaveatBug: note("KNOWN_BUG", "aperture (L402) skips caveats that it does not know."),
  AgentAuthBug: note(
    "KNOWN_BUG",
    "Agent-Auth's reference implementation merges constraints so that a later one replaces an earlier.",
  ),
};
