import { fromHex, hex } from "../build/bytes.js";
import {
  append,
  type Built,
  bind,
  chain,
  dischargeOf,
  located,
  type Third,
} from "../build/chain.js";
import { as, invalid, type MacaroonSubject, text, valid } from "./macaroon-test.js";

// Published signatures. The generator computes each signature, and `answer` compares it with the published one.

const K1 = "this is our super secret key; only we should know it";
const BANK = "http://mybank/";
const ACCOUNT = "account = 3735928559";
const TIME = "time < 2020-01-01T00:00";
const EMAIL = "email = alice@example.org";

function answer(built: Built, signature: string): Built {
  if (hex(built.signature) !== signature) throw new Error(`not the known answer ${signature}`);
  return built;
}

const start = located(chain(K1, "we used our secret key"), BANK);
const A1 = answer(start, "e3d9e02908526c4c0039ae15114115d97fdd68bf2ba379b342aaf0f617d0552f");
const A2 = answer(
  append(A1, ACCOUNT),
  "1efe4763f290dbce0c1d08477367e11f4eee456a64933cf662d79772dbb82128",
);
const A3 = answer(
  append(A2, TIME),
  "b5f06c8c8ef92f6c82c6ff282cd1f8bd1849301d09a2db634ba182536a611c49",
);
const A4 = answer(
  append(A3, EMAIL),
  "ddf553e46083e55b8d71ab822be3d8fcf21d6bf19c40d617bb9fb438934474b6",
);
const B1 = answer(
  append(A1, "test = caveat"),
  "197bac7a044af33332865b9266e26d493bdd668a660e44d88ce1a998c23dbd67",
);

const A1_V1 =
  "MDAxY2xvY2F0aW9uIGh0dHA6Ly9teWJhbmsvCjAwMjZpZGVudGlmaWVyIHdlIHVzZWQgb3VyIHNlY3JldCBrZXkKMDAyZnNpZ25hdHVyZSDj2eApCFJsTAA5rhURQRXZf91ovyujebNCqvD2F9BVLwo";

const KEY_2 = "this is a different super-secret key; never use the same secret twice";
const AUTH: Third = {
  cid: "this was how we remind auth of key/pred",
  caveatKey: "4; guaranteed random by a fair toss of the dice",
  location: "http://auth.mybank/",
  nonce: new Uint8Array(24),
};
const OTHER = "we used our other secret key";
const C1 = answer(
  located(chain(KEY_2, OTHER, [ACCOUNT]), BANK),
  "1434e674ad84fdfdc9bc1aa00785325c8b6d57341fc7ce200ba4680c80786dda",
);
const C2 = answer(
  located(chain(KEY_2, OTHER, [ACCOUNT, AUTH]), BANK),
  "d27db2fd1f22760e4c3dae8137e2d8fc1df6c0741c18aed4b97256bf78d1f55c",
);
const C3 = answer(
  dischargeOf(AUTH, [TIME]),
  "2ed1049876e9d5840950274b579b0770317df54d338d9d3039c7c67d0d91d63c",
);
const BOUND = answer(
  bind(C2, C3),
  "d115ef1c133b1126978d5ab27f69d99ba9d0468cd6c1b7e47b8c1c59019cb019",
);
const C2_V2 =
  "AgEOaHR0cDovL215YmFuay8CHHdlIHVzZWQgb3VyIG90aGVyIHNlY3JldCBrZXkAAhRhY2NvdW50ID0gMzczNTkyODU1OQABE2h0dHA6Ly9hdXRoLm15YmFuay8CJ3RoaXMgd2FzIGhvdyB3ZSByZW1pbmQgYXV0aCBvZiBrZXkvcHJlZARIAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA027FAuBYhtHwJ58FX6UlVNFtFsGxQHS7uD_w_dedwv4Jjw7UorCREw5rXbRqIKhrAAAGINJ9sv0fInYOTD2ugTfi2Pwd9sB0HBiu1LlyVr940fVc";
const WRONG = { ...C2, signature: fromHex("00".repeat(32)) };

export const knownAnswers: MacaroonSubject = {
  subject: "known answers",
  comment: "The macaroons of the libmacaroons tutorial, which every implementation agrees on",
  tests: [
    valid("no caveat, v2", "KnownAnswer", as("v2", A1), K1),
    valid("no caveat, v1", "KnownAnswer", text(A1_V1, A1), K1),
    valid("one caveat, v2", "KnownAnswer", as("v2", A2), K1),
    valid("two caveats, v1", "KnownAnswer", as("v1", A3), K1),
    valid("three caveats, v2 JSON", "KnownAnswer", as("v2json", A4), K1),
    valid("three caveats, v1 JSON", "KnownAnswer", as("v1json", A4), K1),
    valid("three caveats, v2", "KnownAnswer", as("v2", A4), K1),
    valid("another caveat, v1 JSON", "KnownAnswer", as("v1json", B1), K1),
    valid("under another key", "KnownAnswer", as("v2", C1), KEY_2),
    valid(
      "a discharge with an all-zero nonce, v2 JSON",
      "KnownAnswer",
      as("v2json", C2, BOUND),
      KEY_2,
    ),
    valid("a discharge with an all-zero nonce, v2", "KnownAnswer", as("v2", C2, BOUND), KEY_2),
    valid("a discharge with an all-zero nonce, v1", "KnownAnswer", as("v1", C2, BOUND), KEY_2),
    invalid(
      "the third party's discharge left out",
      "KnownAnswer",
      text(C2_V2, C2),
      "discharge_missing",
      KEY_2,
    ),
    invalid(
      "the discharge not bound",
      ["KnownAnswer", "Binding"],
      as("v2json", C2, C3),
      "discharge_mismatch",
      KEY_2,
    ),
    invalid("an all-zero signature", "Forged", as("v2", WRONG, BOUND), "signature_mismatch", KEY_2),
  ],
};
