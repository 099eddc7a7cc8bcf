import { sha256 } from "../build/bytes.js";
import { append, chain, located } from "../build/chain.js";
import { as, KEY, type MacaroonSubject, valid } from "./macaroon-test.js";
import { CAVEATS, ROOT } from "./signature-parts.js";

export const signatures: MacaroonSubject = {
  subject: "the chain",
  comment: "Section 2: the HMAC chain of one macaroon",
  tests: [
    valid("three caveats", "Normal", as("v2", ROOT)),
    valid(
      "32 bytes of key",
      "Normal",
      as("v2", chain(sha256("key"), "id", CAVEATS)),
      sha256("key"),
    ),
    valid("a key of one byte", "Normal", as("v2", chain(Uint8Array.of(0), "id")), Uint8Array.of(0)),
    valid(
      "a key of 64 bytes, one hash block",
      "Normal",
      as("v2", chain("k".repeat(64), "id")),
      "k".repeat(64),
    ),
    valid(
      "a key of 65 bytes, one more",
      "Normal",
      as("v2", chain("k".repeat(65), "id")),
      "k".repeat(65),
    ),
    valid("a key of 200 bytes", "Normal", as("v2", chain("k".repeat(200), "id")), "k".repeat(200)),
    valid(
      "a key that is not text",
      "Normal",
      as("v2", chain(Uint8Array.of(0xff, 0, 0xfe), "id")),
      Uint8Array.of(0xff, 0, 0xfe),
    ),
    valid(
      "the same caveat twice",
      "Normal",
      as("v2", chain(KEY, "id", ["door = front", "door = front"])),
    ),
    valid("a caveat equal to the identifier", "Normal", as("v2", chain(KEY, "id", ["id"]))),
    valid(
      "a caveat of 1,000 bytes, over several hash blocks",
      "Normal",
      as("v2", chain(KEY, "id", ["x".repeat(1000)])),
    ),
    valid(
      "a location put in afterwards is a hint, not signed",
      "Normal",
      as("v2", located(ROOT, "http://elsewhere/")),
    ),
    valid(
      "a caveat appended by a holder without the key",
      "Normal",
      as("v2", append(ROOT, "door = front")),
    ),
    valid(
      "a caveat that is the hash of another",
      "Normal",
      as("v2", chain(KEY, "id", [sha256("x")])),
    ),
  ],
};
