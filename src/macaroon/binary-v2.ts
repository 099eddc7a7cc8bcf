import { type Cursor, varintLength, writeVarint } from "../bytes/cursor.js";
import { TokenError } from "../bytes/token-error.js";
import { decodeUtf8, encodeUtf8 } from "../bytes/utf8.js";
import { TAG_LENGTH } from "./hmac.js";
import { caveatTooLarge, type MacaroonLimits, tooManyCaveats, withinIdentifier } from "./limits.js";
import { type Caveat, Macaroon, partsOf } from "./macaroon.js";
import { VID_LENGTH } from "./third-party.js";

/** First byte of every v2 binary macaroon. */
export const V2_VERSION = 2;

const END = 0;
const LOCATION = 1;
const IDENTIFIER = 2;
const VERIFICATION_ID = 4;
const SIGNATURE = 6;

const HEAD_FIELDS = [LOCATION, IDENTIFIER];
const CAVEAT_FIELDS = [LOCATION, IDENTIFIER, VERIFICATION_ID];

const FIELD_NAMES: Readonly<Record<number, string>> = {
  [LOCATION]: "the location",
  [IDENTIFIER]: "the identifier",
  [VERIFICATION_ID]: "the verification id",
  [SIGNATURE]: "the signature",
};

/**
 * Reads one v2 binary macaroon, and leaves the cursor after the macaroon. All bytes are copied.
 *
 * @param locations - `left out` skips locations, which are not signed, and accepts any bytes in them.
 */
export function readBinaryV2(
  cursor: Cursor,
  limits: MacaroonLimits,
  locations: "read" | "left out" = "read",
): Macaroon {
  const start = cursor.offset;
  const version = cursor.byte("the version");
  if (version !== V2_VERSION) {
    throw new TokenError("format_unknown", `a macaroon cannot start with byte ${version}`, start);
  }
  const head = readSection(cursor, HEAD_FIELDS);
  const identifier = withinIdentifier(requiredIn(head, cursor.offset), limits);
  const location = readLocation(head, start, locations);
  const caveats: Caveat[] = [];
  while (cursor.peek() !== END) {
    // At the end of the bytes, `readCaveat` reports a truncated token instead.
    if (caveats.length >= limits.caveats && !cursor.done) throw tooManyCaveats(limits.caveats);
    caveats.push(readCaveat(cursor, limits, locations));
  }
  cursor.byte("the end of the caveats");
  const at = cursor.offset;
  const type = cursor.varint("the signature's field type");
  if (type !== SIGNATURE) {
    throw new TokenError(
      "field_missing",
      `the signature was expected, not field ${type} (at ${at})`,
      at,
    );
  }
  const signature = readField(cursor, SIGNATURE);
  if (signature.length !== TAG_LENGTH) {
    const message = `the signature has ${signature.length} bytes instead of ${TAG_LENGTH} (at ${at})`;
    throw new TokenError("signature_length", message, at);
  }
  return new Macaroon({
    location: location || undefined,
    identifier: identifier.slice(),
    caveats,
    signature: signature.slice(),
  });
}

function readCaveat(
  cursor: Cursor,
  limits: MacaroonLimits,
  locations: "read" | "left out",
): Caveat {
  const start = cursor.offset;
  const fields = readSection(cursor, CAVEAT_FIELDS);
  const identifier = requiredIn(fields, start).slice();
  if (identifier.length > limits.caveatBytes) {
    throw caveatTooLarge(identifier.length, limits.caveatBytes);
  }
  const location = readLocation(fields, start, locations);
  const vid = fields.verificationId;
  if (vid === undefined) {
    if (location !== undefined) throw firstPartyLocation(start);
    return { kind: "first-party", identifier };
  }
  if (vid.length !== VID_LENGTH) throw vidLength(vid.length, start);
  const caveat = { kind: "third-party", identifier, verificationId: vid.slice() } as const;
  return location ? { ...caveat, location } : caveat;
}

/** The fields of a section, as views of the input. */
interface Section {
  location: Uint8Array | undefined;
  identifier: Uint8Array | undefined;
  verificationId: Uint8Array | undefined;
}

/** Reads fields up to the end-of-section byte. The fields must be known, ascending and unique. */
function readSection(cursor: Cursor, known: readonly number[]): Section {
  const section: Section = {
    location: undefined,
    identifier: undefined,
    verificationId: undefined,
  };
  let last = 0;
  for (;;) {
    const at = cursor.offset;
    const type = cursor.varint("a field type");
    if (type === END) return section;
    if (!known.includes(type)) {
      throw new TokenError("field_unknown", `field ${type} has no place here (at ${at})`, at);
    }
    const name =
      type === LOCATION ? "location" : type === IDENTIFIER ? "identifier" : "verificationId";
    if (section[name] !== undefined) {
      throw new TokenError("field_duplicate", `${FIELD_NAMES[type]} is given twice (at ${at})`, at);
    }
    if (type < last) {
      throw new TokenError("field_order", `${FIELD_NAMES[type]} is out of order (at ${at})`, at);
    }
    section[name] = readField(cursor, type);
    last = type;
  }
}

function readField(cursor: Cursor, type: number): Uint8Array {
  const what = FIELD_NAMES[type] ?? "a field";
  return cursor.take(cursor.varint(what), what);
}

function requiredIn({ identifier }: Section, at: number): Uint8Array {
  if (identifier !== undefined) return identifier;
  throw new TokenError("field_missing", `${FIELD_NAMES[IDENTIFIER]} is missing (at ${at})`, at);
}

function readLocation(
  { location }: Section,
  at: number,
  locations: "read" | "left out",
): string | undefined {
  if (location === undefined || locations === "left out") return undefined;
  return textField(location, "the location", at);
}

/** @throws TokenError `utf8_invalid`. */
export function textField(bytes: Uint8Array, what: string, at: number): string {
  const text = decodeUtf8(bytes);
  if (text === undefined)
    throw new TokenError("utf8_invalid", `${what} is not UTF-8 (at ${at})`, at);
  return text;
}

export function firstPartyLocation(at?: number): TokenError {
  return new TokenError("first_party_location", "a first-party caveat cannot have a location", at);
}

export function vidLength(length: number, at?: number): TokenError {
  const message = `a verification id has ${length} bytes instead of ${VID_LENGTH}`;
  return new TokenError("vid_length", message, at);
}

/** Returns the number of bytes that {@link writeBinaryV2} writes. */
export function binaryV2Length(macaroon: Macaroon): number {
  const { location, identifier, caveats } = partsOf(macaroon);
  let length = 1 + locationLength(location) + fieldLength(identifier.length) + 1;
  for (const caveat of caveats) {
    length += fieldLength(caveat.identifier.length) + 1;
    if (caveat.kind === "third-party") {
      length += locationLength(caveat.location) + fieldLength(VID_LENGTH);
    }
  }
  return length + 1 + fieldLength(TAG_LENGTH);
}

function fieldLength(length: number): number {
  return 1 + varintLength(length) + length;
}

function locationLength(location: string | undefined): number {
  return location ? fieldLength(encodeUtf8(location).length) : 0;
}

export function writeBinaryV2(macaroon: Macaroon): Uint8Array {
  const { location, identifier, caveats, signature } = partsOf(macaroon);
  const out = new Uint8Array(binaryV2Length(macaroon));
  let at = 0;
  const field = (type: number, value: Uint8Array): void => {
    out[at] = type;
    at = writeVarint(out, at + 1, value.length);
    out.set(value, at);
    at += value.length;
  };
  out[at++] = V2_VERSION;
  if (location) field(LOCATION, encodeUtf8(location));
  field(IDENTIFIER, identifier);
  out[at++] = END;
  for (const caveat of caveats) {
    if (caveat.kind === "third-party" && caveat.location) {
      field(LOCATION, encodeUtf8(caveat.location));
    }
    field(IDENTIFIER, caveat.identifier);
    if (caveat.kind === "third-party") field(VERIFICATION_ID, caveat.verificationId);
    out[at++] = END;
  }
  out[at++] = END;
  field(SIGNATURE, signature);
  return out;
}
