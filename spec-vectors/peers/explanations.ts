import type { Difference, Kind, PeerName } from "./peers.js";

/** A line of the table, for differences that have the same cause. */
export interface Explanation {
  readonly kind: Kind;
  /** The expected codes; `valid` for a valid token. */
  readonly expected: readonly string[];
  /** Matches the peer's answer. It is needed if differences with the same expected code have different causes. */
  readonly said?: RegExp;
  readonly comment?: RegExp;
  readonly why: string;
}

const LIMITS = [
  "too_large",
  "too_many_caveats",
  "caveat_too_large",
  "too_many_discharges",
  "too_deep",
  "too_many_members",
  "discharge_too_deep",
];

function accepts(expected: string | readonly string[], why: string): Explanation {
  return { kind: "accepts", expected: [expected].flat(), why };
}

const LIMITLESS = accepts(
  LIMITS,
  "It has no limits. Section 4's are the capability's own, so this is no fault of a generic library; its user has to check them first.",
);

/** Known explanations of each peer. The first one that matches a difference is used. */
export const EXPLANATIONS: Readonly<Record<PeerName, readonly Explanation[]>> = {
  "npm macaroon": [
    accepts(
      "varint_overlong",
      "Reads numbers written longer than needed: one macaroon has many texts.",
    ),
    accepts("varint_range", "Computes lengths in 32 bits, so 2^32 + 2 is 2."),
    accepts("first_party_location", "Drops a location on a first-party caveat without a word."),
    accepts(
      "json_duplicate_key",
      "Takes JSON that is parsed already; `JSON.parse` keeps the last of two properties.",
    ),
    accepts("json_unknown_key", "Ignores properties that it does not know."),
    accepts("json_type", "Takes `null` for an absent location."),
    accepts(
      "json_both_encodings",
      "Takes the text and ignores the base64 beside it, even if they differ.",
    ),
    accepts(
      "json_hex",
      "Reads a digit followed by any other character as the digit alone; without any digit, as zero.",
    ),
    accepts(
      "vid_length",
      "Takes a third-party caveat with an empty verification id for a first-party caveat.",
    ),
    accepts(
      "utf8_invalid",
      "Replaces lone surrogates by U+FFFD, so that two texts are one macaroon.",
    ),
    accepts("base64_mixed", "Reads both alphabets in one text."),
    accepts("base64_trailing_bits", "Ignores bits beyond the last byte."),
    LIMITLESS,
    {
      kind: "rejects",
      expected: ["valid"],
      said: /unexpected extra data/,
      why: "Its reader of several binary macaroons refuses bytes behind the first, so it cannot read discharges in the v2 binary form.",
    },
    {
      kind: "rejects",
      expected: ["valid"],
      said: /URI malformed/,
      why: "Hands every first-party caveat to the check as text, and fails where the bytes are not UTF-8.",
    },
    {
      kind: "not supported",
      expected: [],
      said: /v1 binary/,
      why: "Has no reader for the v1 binary form.",
    },
  ],
  pymacaroons: [
    accepts(
      ["signature_mismatch", "discharge_mismatch"],
      "**Leaves unmet first-party caveats out of the chain instead of refusing them.** A caveat that was never signed, and is not met, goes unnoticed; nothing but the comparison of the signatures refuses an unmet caveat.",
    ),
    {
      kind: "accepts",
      expected: ["trailing_bytes"],
      comment: /caveat behind the signature/,
      why: "Reads packets behind the signature as part of the macaroon; with the fault above, such a caveat changes nothing.",
    },
    accepts(
      "trailing_bytes",
      "Ignores what follows the signature, or lets a later packet replace it.",
    ),
    accepts("discharge_unused", "Ignores discharges that nothing needs."),
    accepts("discharge_duplicate", "Takes the first of two discharges with one identifier."),
    accepts(
      "discharge_reused",
      "Uses one discharge for any number of caveats, verifying it anew each time: time grows exponentially with two references a level.",
    ),
    accepts("varint_overlong", "Reads numbers written longer than needed."),
    accepts(
      "packet_header",
      "Reads lengths with Python's `int(text, 16)`, which takes signs, `0x` and white space.",
    ),
    accepts("packet_terminator", "Does not look at the byte that ends a packet."),
    accepts(
      ["field_missing", "field_order"],
      "Reads v1 packets in any order; the location may be missing.",
    ),
    accepts("field_duplicate", "Lets the last of two packets with one key win."),
    accepts("field_unknown", "Finds a packet's key by its first space, wherever that is."),
    accepts(
      "first_party_location",
      "Keeps or drops a location on a first-party caveat without a word.",
    ),
    accepts("utf8_invalid", "Does not look at a location's encoding until it is shown."),
    accepts("json_syntax", "Python's `json` reads `NaN`."),
    accepts("json_duplicate_key", "Python's `json` keeps the last of two properties."),
    accepts("json_unknown_key", "Ignores properties that it does not know."),
    accepts("json_version", "Does not look at the version."),
    accepts("json_type", "Takes `null` for an absent property."),
    accepts(
      "json_both_encodings",
      "Takes the text and ignores the base64 beside it, even if they differ.",
    ),
    accepts(
      "vid_length",
      "Takes a third-party caveat with an empty verification id for a first-party caveat.",
    ),
    accepts(
      [
        "base64_mixed",
        "base64_character",
        "base64_padding",
        "base64_whitespace",
        "base64_trailing_bits",
      ],
      "Python's `urlsafe_b64decode` skips characters that are not base64, stops at `=`, and ignores bits left over: one macaroon has countless texts.",
    ),
    LIMITLESS,
    {
      kind: "crashes",
      // The peer reports discharge_missing if it reaches the next caveat before it follows the cycle.
      expected: ["discharge_cyclic", "discharge_missing"],
      why: "Follows discharges by recursion until the stack overflows (`RecursionError`); a native stack would have ended the process.",
    },
    {
      kind: "crashes",
      expected: ["too_deep"],
      why: "Python's `json` recurses until the stack overflows.",
    },
    {
      kind: "hangs",
      expected: ["too_large"],
      why: "Shifts a growing integer once for every byte of a number, which takes quadratic time: over a minute for a megabyte.",
    },
    {
      kind: "rejects",
      expected: ["valid"],
      said: /No discharge macaroon/,
      why: "Reads only the first macaroon of a binary text, so discharges have to be presented on their own.",
    },
    {
      kind: "rejects",
      expected: ["valid"],
      said: /UnicodeDecodeError/,
      why: "Hands every first-party caveat to the check as text, and fails where the bytes are not UTF-8.",
    },
    {
      kind: "rejects",
      expected: ["valid"],
      said: /Signatures do not match/,
      comment: /upper case/,
      why: "Compares signatures as hexadecimal text, in lower case.",
    },
  ],
};

/** Returns the explanation of a difference; `undefined` if none is known. */
export function explain(peer: PeerName, difference: Difference): Explanation | undefined {
  const { kind, said, vector } = difference;
  const expected = "code" in vector.test ? vector.test.code : undefined;
  return EXPLANATIONS[peer].find(
    (one) =>
      one.kind === kind &&
      (one.expected.length === 0 || one.expected.includes(expected ?? "valid")) &&
      (one.said?.test(said) ?? true) &&
      (one.comment?.test(vector.test.comment) ?? true),
  );
}
