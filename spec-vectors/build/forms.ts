import { base64url, bytes, concat, type Data, hex } from "./bytes.js";
import type { Built, BuiltCaveat } from "./chain.js";

// Writes the four forms of section 3 of the specification. The parts of a form are exported too, for tests of
// malformed tokens.

export type Form = "v2" | "v1" | "v2json" | "v1json";

/** Types of the fields in the v2 binary form. */
export const LOCATION = 1;
export const IDENTIFIER = 2;
export const VID = 4;
export const SIGNATURE = 6;

/** Encodes a number as unsigned LEB128 in its shortest form. */
export function leb128(value: number): Uint8Array {
  const out: number[] = [];
  let rest = value;
  for (; rest >= 0x80; rest = Math.floor(rest / 128)) out.push((rest % 128) | 0x80);
  return Uint8Array.of(...out, rest);
}

/** Encodes a v2 field. */
export function field(type: number, data: Data): Uint8Array {
  const value = bytes(data);
  return concat(leb128(type), leb128(value.length), value);
}

/** Encodes a v2 macaroon from a header section, caveat sections and `tail`, which is normally the signature field. */
export function v2(
  header: readonly Data[],
  sections: readonly (readonly Data[])[],
  tail: Data,
): Uint8Array {
  return concat(2, ...header, 0, ...sections.map((fields) => concat(...fields, 0)), 0, tail);
}

/** Encodes a v1 packet. */
export function packet(key: string, data: Data): Uint8Array {
  const body = concat(key, " ", data, "\n");
  return concat((body.length + 4).toString(16).padStart(4, "0"), body);
}

/** Writes a macaroon followed by its discharges in one form. */
export function write(form: Form, macaroons: readonly Built[]): string {
  switch (form) {
    case "v2":
      return base64url(concat(...macaroons.map(writeV2)));
    case "v1":
      return base64url(concat(...macaroons.map(writeV1)));
    case "v2json":
    case "v1json": {
      const objects = macaroons.map(form === "v2json" ? jsonV2 : jsonV1);
      return JSON.stringify(objects.length === 1 ? objects[0] : objects);
    }
  }
}

export function writeV2({ location, identifier, caveats, signature }: Built): Uint8Array {
  const header = [...locationField(location), field(IDENTIFIER, identifier)];
  const sections = caveats.map((caveat) => caveatFields(caveat));
  return v2(header, sections, field(SIGNATURE, signature));
}

/** Encodes the fields of a caveat's v2 section. */
function caveatFields({ cid, vid, location }: BuiltCaveat): Uint8Array[] {
  const fields = [...locationField(location), field(IDENTIFIER, cid)];
  return vid === undefined ? fields : [...fields, field(VID, vid)];
}

function locationField(location: string | undefined): Uint8Array[] {
  return location === undefined ? [] : [field(LOCATION, location)];
}

export function writeV1({ location, identifier, caveats, signature }: Built): Uint8Array {
  return concat(
    packet("location", location ?? ""),
    packet("identifier", identifier),
    ...caveats.flatMap(({ cid, vid, location: cl }) =>
      vid === undefined
        ? [packet("cid", cid)]
        : [packet("cid", cid), packet("vid", vid), packet("cl", cl ?? "")],
    ),
    packet("signature", signature),
  );
}

export type JsonObject = { [name: string]: unknown };

/** Returns the v2 JSON object. */
export function jsonV2({ location, identifier, caveats, signature }: Built): JsonObject {
  return {
    v: 2,
    ...(location === undefined ? {} : { l: location }),
    ...textOrBase64("i", identifier),
    c: caveats.map(({ cid, vid, location: cl }) => ({
      ...textOrBase64("i", cid),
      ...(vid === undefined ? {} : { v64: base64url(vid) }),
      ...(cl === undefined ? {} : { l: cl }),
    })),
    s64: base64url(signature),
  };
}

/** Returns the v1 JSON object. */
export function jsonV1({ location, identifier, caveats, signature }: Built): JsonObject {
  return {
    location: location ?? "",
    identifier: Buffer.from(identifier).toString(),
    caveats: caveats.map(({ cid, vid, location: cl }) => ({
      cid: Buffer.from(cid).toString(),
      ...(vid === undefined ? {} : { vid: base64url(vid) }),
      ...(cl === undefined ? {} : { cl }),
    })),
    signature: hex(signature),
  };
}

function textOrBase64(name: string, value: Uint8Array): JsonObject {
  const text = Buffer.from(value).toString();
  const isText = Buffer.from(text).equals(Buffer.from(value));
  return isText ? { [name]: text } : { [`${name}64`]: base64url(value) };
}
