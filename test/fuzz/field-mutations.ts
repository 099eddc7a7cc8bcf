import type { Macaroon } from "../../src/macaroon/index.js";
import { join } from "./byte-mutations.js";
import type { Presented } from "./corpus.js";
import type { Random } from "./random.js";

/** One field of a binary macaroon: a name that both binary forms have, and its bytes. */
interface Field {
  readonly name: Name;
  readonly data: Uint8Array;
}

type Name = "location" | "identifier" | "cid" | "vid" | "cl" | "signature" | "end" | "version";

const NAMES: readonly Name[] = ["location", "identifier", "cid", "vid", "cl", "signature", "end"];
const NOTHING = new Uint8Array();
const utf8 = new TextEncoder();

/** Returns the fields of a macaroon; in v2, with the ends of sections. */
function fieldsOf(macaroon: Macaroon, form: "v1" | "v2"): Field[] {
  const { identifier, caveats, signature, location } = macaroon;
  const place = utf8.encode(location ?? "");
  const end: Field[] = form === "v2" ? [{ name: "end", data: NOTHING }] : [];
  const fields: Field[] = form === "v2" ? [{ name: "version", data: NOTHING }] : [];
  if (form === "v1" || place.length > 0) fields.push({ name: "location", data: place });
  fields.push({ name: "identifier", data: identifier }, ...end);
  for (const caveat of caveats) {
    const link: Field[] = [{ name: "cid", data: caveat.identifier }];
    if (caveat.kind === "third-party") {
      link.push({ name: "vid", data: caveat.verificationId });
      const hint: Field = { name: "cl", data: utf8.encode(caveat.location ?? "") };
      if (form === "v1") link.push(hint);
      else if (caveat.location !== undefined) link.unshift(hint);
    }
    fields.push(...link, ...end);
  }
  return [...fields, ...end, { name: "signature", data: signature }];
}

/** Makes one edit in a list of fields: removes, doubles, swaps, replaces, moves or renames a field. */
function editFields(random: Random, fields: readonly Field[]): Field[] {
  const edited = [...fields];
  const at = random.below(edited.length);
  const one = fields[at] ?? { name: "end", data: NOTHING };
  const other = random.below(edited.length);
  switch (random.below(6)) {
    case 0:
      edited.splice(at, 1 + random.below(3));
      break;
    case 1:
      edited.splice(other, 0, one);
      break;
    case 2:
      edited[at] = fields[other] ?? one;
      edited[other] = one;
      break;
    case 3:
      edited[at] = { name: one.name, data: random.bytes(random.pick([0, 1, 31, 32, 33, 72, 73])) };
      break;
    case 4:
      edited[at] = { name: random.pick(NAMES), data: one.data };
      break;
    default: {
      const length = random.pick([0, 1, one.data.length - 1, one.data.length + 1]);
      edited[at] = { name: one.name, data: join(one.data, random.bytes(8)).slice(0, length) };
    }
  }
  return edited;
}

/** Writes the macaroons with some fields edited, in a binary form. */
export function editedFields(random: Random, from: Presented, form: "v1" | "v2"): Uint8Array {
  let fields = from.flatMap((macaroon) => fieldsOf(macaroon, form));
  for (let edits = 1 + random.below(3); edits > 0 && fields.length > 0; edits--) {
    fields = editFields(random, fields);
  }
  return join(
    ...fields.map((field) => (form === "v1" ? packet(random, field) : v2Field(random, field))),
  );
}

const TYPES: Readonly<Record<Name, number>> = {
  version: 2,
  end: 0,
  location: 1,
  identifier: 2,
  cid: 2,
  vid: 4,
  cl: 1,
  signature: 6,
};

function v2Field(random: Random, { name, data }: Field): Uint8Array {
  const type = Uint8Array.of(TYPES[name]);
  return name === "version" || name === "end"
    ? type
    : join(type, length(random, data.length), data);
}

/** Encodes a number as LEB128. Sometimes the encoding is longer than necessary, or encodes another number. */
function length(random: Random, value: number): Uint8Array {
  const rare = random.below(100);
  let rest = rare === 0 ? value + random.pick([-1, 1, 128, 2 ** 14, 2 ** 21, 2 ** 27]) : value;
  const bytes: number[] = [];
  for (; rest >= 0x80; rest >>>= 7) bytes.push((rest & 0x7f) | 0x80);
  if (rare !== 1) return Uint8Array.of(...bytes, rest & 0x7f);
  return Uint8Array.of(...bytes, rest | 0x80, ...[0x80, 0x80, 0].slice(random.below(3)));
}

function packet(random: Random, { name, data }: Field): Uint8Array {
  const body = join(utf8.encode(`${name} `), data, utf8.encode("\n"));
  const off = random.once(100) ? random.pick([-4, -1, 1, 16]) : 0;
  const size = Math.max(0, body.length + 4 + off)
    .toString(16)
    .padStart(4, "0");
  return join(utf8.encode(random.once(100) ? size.toUpperCase() : size), body);
}
