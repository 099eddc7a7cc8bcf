import { concatBytes } from "@noble/hashes/utils.js";
import type { Cursor } from "../bytes/cursor.js";
import { TokenError } from "../bytes/token-error.js";
import { encodeUtf8 } from "../bytes/utf8.js";
import { firstPartyLocation, textField, vidLength } from "./binary-v2.js";
import { TAG_LENGTH } from "./hmac.js";
import { caveatTooLarge, type MacaroonLimits, tooManyCaveats, withinIdentifier } from "./limits.js";
import { type Caveat, Macaroon, partsOf } from "./macaroon.js";
import { VID_LENGTH } from "./third-party.js";

const HEADER = 4;
const NEWLINE = 0x0a;
const SPACE = 0x20;
const MAX_PACKET = 0xffff;
const FIRST = "location ";

const KEYS = ["location", "identifier", "cid", "vid", "cl", "signature"] as const;
type Key = (typeof KEYS)[number];

interface Packet {
  readonly key: Key;
  readonly value: Uint8Array;
  readonly at: number;
}

/** Reads one v1 binary macaroon, and leaves the cursor after the macaroon. All bytes are copied. */
export function readBinaryV1(cursor: Cursor, limits: MacaroonLimits): Macaroon {
  const location = expect(readPacket(cursor), "location", []);
  const identifier = withinIdentifier(
    expect(readPacket(cursor), "identifier", ["location"]).value,
    limits,
  );
  const caveats: Caveat[] = [];
  let seen: readonly Key[] = ["location", "identifier"];
  let packet = readPacket(cursor);
  while (packet.key === "cid") {
    if (caveats.length >= limits.caveats) throw tooManyCaveats(limits.caveats);
    const cid = packet;
    if (cid.value.length > limits.caveatBytes) {
      throw caveatTooLarge(cid.value.length, limits.caveatBytes);
    }
    packet = readPacket(cursor);
    const vid = packet.key === "vid" ? packet : undefined;
    if (vid !== undefined) packet = readPacket(cursor);
    const cl = packet.key === "cl" ? packet : undefined;
    if (cl !== undefined && vid === undefined) throw firstPartyLocation(cl.at);
    if (cl !== undefined) packet = readPacket(cursor);
    seen = ["location", "identifier", "cid", ...(vid ? [vid.key] : []), ...(cl ? [cl.key] : [])];
    if (packet.key === "vid") throw unexpected(packet, "signature", seen);
    caveats.push(caveatOf(cid, vid, cl));
  }
  const signature = expect(packet, "signature", seen);
  if (signature.value.length !== TAG_LENGTH) {
    const message = `the signature has ${signature.value.length} bytes instead of ${TAG_LENGTH}`;
    throw new TokenError("signature_length", message, signature.at);
  }
  return new Macaroon({
    location: textField(location.value, "the location", location.at) || undefined,
    identifier: identifier.slice(),
    caveats,
    signature: signature.value.slice(),
  });
}

/** Returns whether `byte` is `0` to `9` or `a` to `f`, as the first byte of every v1 macaroon must be. */
export function isLowerHex(byte: number | undefined): boolean {
  return byte !== undefined && /[0-9a-f]/.test(String.fromCharCode(byte));
}

/** Returns whether the remaining bytes begin like a v1 macaroon, with a location packet, which may be truncated. */
export function startsBinaryV1(cursor: Cursor): boolean {
  const name = cursor.bytes.subarray(cursor.offset + HEADER, cursor.offset + HEADER + FIRST.length);
  return isLowerHex(cursor.peek()) && name.every((byte, at) => byte === FIRST.charCodeAt(at));
}

function caveatOf(cid: Packet, vid: Packet | undefined, cl: Packet | undefined): Caveat {
  const identifier = cid.value.slice();
  if (vid === undefined) return { kind: "first-party", identifier };
  if (vid.value.length !== VID_LENGTH) throw vidLength(vid.value.length, vid.at);
  const caveat = { kind: "third-party", identifier, verificationId: vid.value.slice() } as const;
  const location = cl && textField(cl.value, "a caveat's location", cl.at);
  return location ? { ...caveat, location } : caveat;
}

function readPacket(cursor: Cursor): Packet {
  const at = cursor.offset;
  const header = cursor.take(HEADER, "a packet's length");
  let length = 0;
  for (const digit of header) {
    const value = digit >= 0x30 && digit <= 0x39 ? digit - 0x30 : digit - 0x61 + 10;
    if (value < 0 || value > 15 || (digit > 0x39 && digit < 0x61)) {
      const message = `a packet's length is not four lowercase hex digits (at ${at})`;
      throw new TokenError("packet_header", message, at);
    }
    length = length * 16 + value;
  }
  if (length < HEADER + 3) {
    throw new TokenError("packet_header", `a packet cannot be ${length} bytes long (at ${at})`, at);
  }
  const body = cursor.take(length - HEADER, "a packet");
  if (body[body.length - 1] !== NEWLINE) {
    const end = at + length - 1;
    throw new TokenError(
      "packet_terminator",
      `a packet does not end in a newline (at ${end})`,
      end,
    );
  }
  const space = body.indexOf(SPACE);
  const name = String.fromCharCode(...body.subarray(0, Math.min(Math.max(space, 0), 16)));
  const key = KEYS.find((known) => known === name);
  if (key === undefined) {
    throw new TokenError(
      "field_unknown",
      `a packet has an unknown key (at ${at + HEADER})`,
      at + HEADER,
    );
  }
  return { key, value: body.subarray(space + 1, body.length - 1), at };
}

function expect(packet: Packet, key: Key, seen: readonly Key[]): Packet {
  if (packet.key === key) return packet;
  throw unexpected(packet, key, seen);
}

/** Returns the error for a packet found in place of `key`, after the packets in `seen`. */
function unexpected(packet: Packet, key: Key, seen: readonly Key[]): TokenError {
  const tooLate = KEYS.indexOf(packet.key) < KEYS.indexOf(key);
  const code = seen.includes(packet.key)
    ? "field_duplicate"
    : tooLate
      ? "field_order"
      : "field_missing";
  const message = `"${key}" was expected, not "${packet.key}" (at ${packet.at})`;
  return new TokenError(code, message, packet.at);
}

/**
 * Writes the v1 binary form.
 *
 * @throws TypeError if a field is too long for a v1 packet (65,535 bytes with its header).
 */
export function writeBinaryV1(macaroon: Macaroon): Uint8Array {
  const { location, identifier, caveats, signature } = partsOf(macaroon);
  const packets = [
    packet("location", encodeUtf8(location ?? "")),
    packet("identifier", identifier),
  ];
  for (const caveat of caveats) {
    packets.push(packet("cid", caveat.identifier));
    if (caveat.kind === "third-party") {
      packets.push(packet("vid", caveat.verificationId));
      packets.push(packet("cl", encodeUtf8(caveat.location ?? "")));
    }
  }
  packets.push(packet("signature", signature));
  return concatBytes(...packets);
}

function packet(key: Key, value: Uint8Array): Uint8Array {
  const length = HEADER + key.length + 1 + value.length + 1;
  if (length > MAX_PACKET) {
    throw new TypeError(`"${key}" is too long for the v1 format: ${value.length} bytes`);
  }
  const head = encodeUtf8(`${length.toString(16).padStart(HEADER, "0")}${key} `);
  return concatBytes(head, value, Uint8Array.of(NEWLINE));
}
