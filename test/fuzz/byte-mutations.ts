import type { Random } from "./random.js";

// Numbers that are edge cases of lengths, field types, packets and UTF-8.
const TRICKY = [0, 1, 2, 4, 6, 10, 0x20, 0x30, 0x61, 0x66, 0x7b, 0x7f, 0x80, 0xc0, 0xed, 0xff];

export function join(...parts: readonly Uint8Array[]): Uint8Array {
  return new Uint8Array(Buffer.concat(parts));
}

function tricky(random: Random, length: number): Uint8Array {
  return Uint8Array.from({ length }, () =>
    random.once(3) ? random.below(256) : random.pick(TRICKY),
  );
}

/** Replaces the `remove` bytes at the offset `at` by `insert`. */
function spliced(bytes: Uint8Array, at: number, remove: number, insert: Uint8Array): Uint8Array {
  return join(bytes.subarray(0, at), insert, bytes.subarray(at + remove));
}

/** Makes one edit of `bytes` without knowledge of their format; an edit may insert bytes of `other`. */
export function editBytes(random: Random, bytes: Uint8Array, other: Uint8Array): Uint8Array {
  const at = random.below(bytes.length + 1);
  const short = random.below(9);
  switch (random.below(9)) {
    case 0: {
      const flipped = bytes.slice();
      flipped[at] = (flipped[at] ?? 0) ^ (1 << random.below(8));
      return flipped;
    }
    case 1:
      return bytes.slice(0, at);
    case 2:
      return spliced(bytes, at, short, tricky(random, short));
    case 3:
      return spliced(bytes, at, 0, tricky(random, short + 1));
    case 4:
      return spliced(bytes, at, random.below(40), new Uint8Array());
    case 5: {
      const length = random.below(80);
      return spliced(bytes, at, random.pick([0, length]), bytes.slice(at, at + length));
    }
    case 6: {
      const changed = bytes.slice();
      changed[at] = (changed[at] ?? 0) + random.pick([-16, -1, 1, 16]);
      return changed;
    }
    case 7:
      return join(bytes.subarray(0, at), other.subarray(random.below(other.length + 1)));
    default:
      return join(bytes, random.pick([bytes, other, tricky(random, short)]));
  }
}

/** Encodes bytes as base64 in a random spelling, sometimes with a fault. */
export function spelled(random: Random, bytes: Uint8Array): string {
  const standard = Buffer.from(bytes).toString("base64");
  const bare = standard.replace(/=+$/, "");
  const urlSafe = Buffer.from(bytes).toString("base64url");
  const at = random.below(bare.length + 1);
  switch (random.below(9)) {
    case 0:
      return standard;
    case 1:
      return bare;
    case 2:
      return `${urlSafe}${random.pick(["=", "==", "===", "\n", " ", "A", "AA"])}`;
    case 3:
      return (
        urlSafe.slice(0, at) + random.pick(["\n", "=", "+", "-", "é", "\0"]) + urlSafe.slice(at)
      );
    case 4:
      return urlSafe.slice(0, -1) + random.pick([..."ABCDEFGHQRSTgw01_-/+"]);
    default:
      return urlSafe;
  }
}
