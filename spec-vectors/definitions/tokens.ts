import { fromHex } from "../build/bytes.js";
import { type Built, hexTags, revocationId, third } from "../build/chain.js";
import {
  allowed,
  type CheckSubject,
  EXPIRES,
  type Key,
  refused,
  type Setup,
} from "./check-test.js";

// The example of section 13, word for word. `published` checks that the bytes are the same as in the
// specification.

const EXAMPLE_KEY: Key = {
  kid: "key_example",
  secret: fromHex("000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f"),
};
const EXAMPLE_ID =
  '{"grant":"documents:read","id":"cap_AAAAAAAAAAAAAAAA","iss":"documents-agent","issued":"2026-01-01T00:00:00Z","kid":"key_example","principal":"user:alice","v":1}';
const LINK_1 =
  '{"expires":"2026-01-01T01:00:00Z","operations":["retrieve","search"],"resourceHandles":["rh_1","rh_2"]}';
const LINK_2 =
  '{"constraints":{"amount":{"max":1000}},"nonce":"AAAAAAAAAAAAAAAA","operations":["retrieve"]}';
const TOKEN =
  "AgKhAXsiZ3JhbnQiOiJkb2N1bWVudHM6cmVhZCIsImlkIjoiY2FwX0FBQUFBQUFBQUFBQUFBQUEiLCJpc3MiOiJkb2N1bWVudHMtYWdlbnQiLCJpc3N1ZWQiOiIyMDI2LTAxLTAxVDAwOjAwOjAwWiIsImtpZCI6ImtleV9leGFtcGxlIiwicHJpbmNpcGFsIjoidXNlcjphbGljZSIsInYiOjF9AAJneyJleHBpcmVzIjoiMjAyNi0wMS0wMVQwMTowMDowMFoiLCJvcGVyYXRpb25zIjpbInJldHJpZXZlIiwic2VhcmNoIl0sInJlc291cmNlSGFuZGxlcyI6WyJyaF8xIiwicmhfMiJdfQACXHsiY29uc3RyYWludHMiOnsiYW1vdW50Ijp7Im1heCI6MTAwMH19LCJub25jZSI6IkFBQUFBQUFBQUFBQUFBQUEiLCJvcGVyYXRpb25zIjpbInJldHJpZXZlIl19AAAGIIDAIBf7hSmB0yQKvSX8XqASxUz49CVhVjfPLlnYSBRF";
const TAGS = [
  "45c07e6ecb48ed7ca76806172430db41af8fb2f8ab5889cc2737cfa693243591",
  "c6e0f7874ba4e29077481117acd5b404d33ae4b3ac5689ae23e049de824a48c7",
  "80c02017fb852981d3240abd25fc5ea012c54cf8f425615637cf2e59d8481445",
];
const IDS = ["rv_Q5XRaWQvAQPpB-RVS9CGpQ", "rv_yKcpaxI7x_c8zhI1CdQVGQ", "rv_z31XsqNCSOkmXN-CPTdQ3Q"];

const EXAMPLE: Setup = {
  identifier: EXAMPLE_ID,
  secret: EXAMPLE_KEY.secret,
  keys: [EXAMPLE_KEY],
  links: [LINK_1, LINK_2],
  alter: published,
};

function published(token: Built): Built {
  const ids = token.tags.map(revocationId);
  if (hexTags(token).join() !== TAGS.join() || ids.join() !== IDS.join()) {
    throw new Error("section 13 of the specification has other tags");
  }
  return token;
}

const GOOD = { operation: "retrieve", resourceHandles: ["rh_1"], arguments: { amount: 1000 } };
const BAD = { operation: "search", resourceHandles: ["rh_3"], arguments: { amount: "1000" } };
const revoked = (id: string) => () => ({ entries: [{ kind: "link", id }] }) as const;

export const example: CheckSubject = {
  subject: "the specification's example",
  comment: "Section 13",
  tests: [
    allowed("what it allows", "SpecExample", { ...EXAMPLE, ask: GOOD }),
    allowed("the text printed there", "SpecExample", { ...EXAMPLE, ask: GOOD, text: () => TOKEN }),
    refused(
      "what it refuses",
      ["SpecExample", "AllReported"],
      { ...EXAMPLE, ask: BAD },
      "resource_denied@1",
      "operation_denied@2",
      "constraint_violated@2",
    ),
    refused(
      "half an hour later",
      ["SpecExample", "TimeEdge"],
      { ...EXAMPLE, ask: GOOD, now: "2026-01-01T01:00:00Z" },
      "expired@1",
    ),
    refused(
      "its capability revoked by the id of link 0",
      ["SpecExample", "RevocationTree"],
      { ...EXAMPLE, ask: GOOD, revocations: revoked(IDS[0] ?? "") },
      "revoked@0",
    ),
    refused(
      "its parent revoked",
      ["SpecExample", "RevocationTree"],
      { ...EXAMPLE, ask: GOOD, revocations: revoked(IDS[1] ?? "") },
      "revoked@1",
    ),
    refused(
      "itself revoked",
      ["SpecExample", "RevocationTree"],
      { ...EXAMPLE, ask: GOOD, revocations: revoked(IDS[2] ?? "") },
      "revoked@2",
    ),
    refused(
      "a grant that may not be attenuated, attenuated",
      ["SpecExample", "Delegation"],
      { links: ['{"expires":"2026-01-01T01:00:00Z","maxFurtherHops":0}', '{"purpose":"x"}'] },
      "too_many_hops@1",
    ),
  ],
};

const ASK = third("ask");
const BIG = `{"purpose":"${"x".repeat(8178)}"}`;
const members = (count: number): string =>
  `{"operations":[${Array.from({ length: count }, (_, at) => `"${String(at).padStart(3, "0")}"`).join()}]}`;
const long = (text: string): string => text.slice(0, -1);

export const tokens: CheckSubject = {
  subject: "form and limits of a token",
  comment: "Section 7, step 1: which denial the codes of sections 3 and 4 become",
  tests: [
    allowed("v2", "Normal", {}),
    refused("v1", "WireForm", { form: "v1" }, "token_malformed"),
    refused("v2 JSON", "WireForm", { form: "v2json" }, "token_malformed"),
    refused("v1 JSON", "WireForm", { form: "v1json" }, "token_malformed"),
    refused(
      "v2 JSON behind white space",
      "WireForm",
      { form: "v2json", text: (token) => ` \n${token}` },
      "token_malformed",
    ),
    refused(
      "v2 JSON in an array",
      "WireForm",
      { form: "v2json", text: (token) => `[${token}]` },
      "token_malformed",
    ),
    refused(
      "v2 followed by a v1 macaroon",
      "WireForm",
      { text: (token) => `${token}${Buffer.from("0013location here\n").toString("base64url")}` },
      "token_malformed",
    ),
    refused(
      "v1 in standard base64 with padding",
      "WireForm",
      { form: "v1", text: (token) => Buffer.from(token, "base64url").toString("base64") },
      "token_malformed",
    ),
    allowed("standard base64 with padding", "Lenient", {
      text: (token) => Buffer.from(token, "base64url").toString("base64"),
    }),
    refused("the last character cut off", "Truncated", { text: long }, "token_truncated"),
    refused(
      "cut to a third, as on paste",
      "Truncated",
      { text: (token) => token.slice(0, 110) },
      "token_truncated",
    ),
    refused(
      "cut inside the discharge",
      "Truncated",
      { links: [EXPIRES, ASK], discharges: [{ of: ASK }], text: (token) => token.slice(0, -8) },
      "token_truncated",
    ),
    refused("JSON cut short", "WireForm", { form: "v2json", text: long }, "token_malformed"),
    refused(
      "v1 cut short",
      "WireForm",
      { form: "v1", text: (token) => token.slice(0, -4) },
      "token_malformed",
    ),
    refused("an empty text", "StrictBase64", { text: () => "" }, "token_malformed"),
    refused(
      "a newline behind the token",
      "StrictBase64",
      { text: (token) => `${token}\n` },
      "token_malformed",
    ),
    refused(
      "Bearer before the token",
      "StrictBase64",
      { text: (token) => `Bearer ${token}` },
      "token_malformed",
    ),
    refused(
      "a JSON Web Token",
      "StrictBase64",
      { text: () => "eyJhbGciOiJIUzI1NiJ9.e30.AAAA" },
      "token_malformed",
    ),
    refused(
      "a member of the JSON twice",
      "StrictJson",
      { form: "v2json", text: (token) => token.replace("{", '{"v":2,') },
      "token_malformed",
    ),
    refused(
      "a zero byte behind the macaroon",
      "StrictV2",
      {
        text: (token) =>
          Buffer.concat([Buffer.from(token, "base64url"), Buffer.alloc(1)]).toString("base64url"),
      },
      "token_malformed",
    ),
    allowed("32 hops", "Limit", { links: [EXPIRES, ...Array<string>(31).fill('{"purpose":"x"}')] }),
    refused(
      "33 hops",
      "Limit",
      { links: [EXPIRES, ...Array<string>(32).fill('{"purpose":"x"}')] },
      "token_too_large",
    ),
    allowed("a hop of 8,192 bytes", "Limit", { links: [EXPIRES, BIG] }),
    refused(
      "a hop of 8,193 bytes",
      "Limit",
      { links: [EXPIRES, BIG.replace("x", "xx")] },
      "token_too_large",
    ),
    refused("two hops of 8,192 bytes", "Limit", { links: [EXPIRES, BIG, BIG] }, "token_too_large"),
    refused(
      "an identifier of 2,049 bytes",
      ["Limit", "Identifier"],
      { identifier: sizedIdentifier(2049) },
      "token_too_large",
    ),
    allowed("an identifier of 2,048 bytes", ["Limit", "Identifier"], {
      identifier: sizedIdentifier(2048),
    }),
    allowed("a set of 256 members", "Limit", {
      links: [EXPIRES, members(256)],
      ask: { operation: "255" },
    }),
    refused(
      "a set of 257 members",
      "Limit",
      { links: [EXPIRES, members(257)], ask: { operation: "255" } },
      "token_too_large",
    ),
    refused(
      "a hop nested seven deep, which is no more than unknown",
      ["Limit", "UnknownRestriction"],
      { links: [EXPIRES, '{"x":[[[[[[1]]]]]]}'] },
      "caveat_unknown@2",
    ),
    refused(
      "a hop nested eight deep",
      "Limit",
      { links: [EXPIRES, '{"x":[[[[[[[1]]]]]]]}'] },
      "token_too_large",
    ),
    refused("nine discharges", ["Limit", "Discharge"], asking(9), "token_too_large"),
    allowed("eight discharges", ["Limit", "Discharge"], asking(8)),
    allowed("arguments of a call nested as deep as they like", "Limit", {
      ask: { arguments: { a: [[[[[[[[{ b: [1] }]]]]]]]] } },
    }),
  ],
};

function asking(count: number): Setup {
  const asks = Array.from({ length: count }, (_, at) => third(`ask ${at}`));
  return { links: [EXPIRES, ...asks], discharges: asks.map((of) => ({ of })) };
}

function sizedIdentifier(size: number): string {
  const grant = (length: number): string =>
    `{"grant":"${"g".repeat(length)}","id":"cap_AAAAAAAAAAAAAAAA","iss":"documents-agent","issued":"2026-01-01T00:00:00Z","kid":"key_a","v":1}`;
  return grant(size - grant(0).length);
}
