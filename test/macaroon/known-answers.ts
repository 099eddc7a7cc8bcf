// Published and cross-checked vectors; every tested implementation agrees with them.

/** The first macaroon of the libmacaroons tutorial. */
export const K1 = {
  key: "this is our super secret key; only we should know it",
  identifier: "we used our secret key",
  location: "http://mybank/",
} as const;

const ACCOUNT = "account = 3735928559";
const TIME = "time < 2020-01-01T00:00";
const EMAIL = "email = alice@example.org";

/** First-party chains on {@link K1}. */
export const A_CHAIN: readonly { name: string; caveats: string[]; signature: string }[] = [
  {
    name: "A1: no caveat",
    caveats: [],
    signature: "e3d9e02908526c4c0039ae15114115d97fdd68bf2ba379b342aaf0f617d0552f",
  },
  {
    name: "A2: one caveat",
    caveats: [ACCOUNT],
    signature: "1efe4763f290dbce0c1d08477367e11f4eee456a64933cf662d79772dbb82128",
  },
  {
    name: "A3: two caveats",
    caveats: [ACCOUNT, TIME],
    signature: "b5f06c8c8ef92f6c82c6ff282cd1f8bd1849301d09a2db634ba182536a611c49",
  },
  {
    name: "A4: three caveats",
    caveats: [ACCOUNT, TIME, EMAIL],
    signature: "ddf553e46083e55b8d71ab822be3d8fcf21d6bf19c40d617bb9fb438934474b6",
  },
  {
    name: "B1: another caveat",
    caveats: ["test = caveat"],
    signature: "197bac7a044af33332865b9266e26d493bdd668a660e44d88ce1a998c23dbd67",
  },
];

export const A1_V1 =
  "MDAxY2xvY2F0aW9uIGh0dHA6Ly9teWJhbmsvCjAwMjZpZGVudGlmaWVyIHdlIHVzZWQgb3VyIHNlY3JldCBrZXkKMDAyZnNpZ25hdHVyZSDj2eApCFJsTAA5rhURQRXZf91ovyujebNCqvD2F9BVLwo";

/** The tutorial's macaroon with a third-party caveat; its nonce is all zero. */
export const C_CHAIN = {
  key: "this is a different super-secret key; never use the same secret twice",
  identifier: "we used our other secret key",
  location: "http://mybank/",
  caveat: "account = 3735928559",
  third: {
    key: "4; guaranteed random by a fair toss of the dice",
    identifier: "this was how we remind auth of key/pred",
    location: "http://auth.mybank/",
  },
  dischargeCaveat: "time < 2020-01-01T00:00",
  c3BoundSignature: "d115ef1c133b1126978d5ab27f69d99ba9d0468cd6c1b7e47b8c1c59019cb019",
  c2V2: "AgEOaHR0cDovL215YmFuay8CHHdlIHVzZWQgb3VyIG90aGVyIHNlY3JldCBrZXkAAhRhY2NvdW50ID0gMzczNTkyODU1OQABE2h0dHA6Ly9hdXRoLm15YmFuay8CJ3RoaXMgd2FzIGhvdyB3ZSByZW1pbmQgYXV0aCBvZiBrZXkvcHJlZARIAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA027FAuBYhtHwJ58FX6UlVNFtFsGxQHS7uD_w_dedwv4Jjw7UorCREw5rXbRqIKhrAAAGINJ9sv0fInYOTD2ugTfi2Pwd9sB0HBiu1LlyVr940fVc",
} as const;
