import type { Random } from "../../../../fuzz/random.js";
import type { Sending } from "../party.js";

/** Makes a request with a faulty body from a valid body. */
export type BodyFault = (body: Readonly<Record<string, unknown>>) => Sending;

/**
 * Draws a fault of a body, with its description. The fault is the same on every server, although the ids in the body
 * differ.
 */
export function drawBodyFault(random: Random, members: readonly string[]): [string, BodyFault] {
  const member = members.length === 0 ? "any" : random.pick(members);
  const draws: (() => [string, BodyFault])[] = [
    () => [`no ${member}`, (body) => ({ body: { ...body, [member]: undefined } })],
    () => typed(random, member),
    () => typed(random, member),
    () => typed(random, member),
    () => [`odd text as ${member}`, replaced(member, random.pick(ODD_TEXTS))],
    () => ["an unknown member", (body) => ({ body: { ...body, colour: "red" } })],
    () => random.pick(WHOLE),
    () => random.pick(WHOLE),
    () => random.pick(CONTENT_TYPES),
  ];
  return random.pick(draws)();
}

function typed(random: Random, member: string): [string, BodyFault] {
  const [type, value] = random.pick(Object.entries(OTHER_TYPES));
  return [`${type} as ${member}`, replaced(member, value)];
}

function replaced(member: string, value: unknown): BodyFault {
  return (body) => ({ body: { ...body, [member]: value } });
}

/** Returns the JSON text of a body with additional properties, which may be invalid JSON. */
function withText(body: object, members: string): string {
  const text = JSON.stringify(body);
  return text === "{}" ? `{${members}}` : `${text.slice(0, -1)},${members}}`;
}

const OTHER_TYPES: Readonly<Record<string, unknown>> = {
  "a number": 5,
  null: null,
  true: true,
  "an empty text": "",
  "a text": "text",
  "an empty list": [],
  "a list": ["list_payees"],
  "a list of numbers": [1, 2],
  "a list of lists": [[]],
  "an empty object": {},
  "an object": { name: "list_payees" },
};

const ODD_TEXTS: readonly string[] = [
  "\u0000",
  " list_payees",
  "LIST_PAYEES",
  "list-payees",
  "*",
  "list.*",
  "__proto__",
  "constructor",
  "toString",
  "<script>alert(1)</script>",
  "../../etc/passwd",
  "' OR 1=1 --",
  "\u202elist",
  "\ud800",
  "ﬁle",
  "🏦",
  "x".repeat(5_000),
];

const DEEP = 5_000;
const BIG = 3_000_000;

/** Faults that concern the whole body. */
export const WHOLE: readonly [string, BodyFault][] = [
  [
    "a member of every object's prototype",
    (body) => ({ body: withText(body, '"__proto__":{"status":"active"},"constructor":1') }),
  ],
  ["a member twice", (body) => ({ body: withText(body, JSON.stringify(body).slice(1, -1)) })],
  ["a list as the body", (body) => ({ body: [body] })],
  ["null as the body", () => ({ body: "null" })],
  ["a text as the body", () => ({ body: '"text"' })],
  ["a number as the body", () => ({ body: "5" })],
  ["a body cut short", (body) => ({ body: JSON.stringify(body).slice(0, -1) })],
  ["a body that is no JSON", () => ({ body: "name=helper" })],
  ["an empty body", () => ({ body: "" })],
  ["no body", () => ({})],
  ["a byte order mark", (body) => ({ body: `\ufeff${JSON.stringify(body)}` })],
  ["bytes that are no UTF-8", () => ({ body: Uint8Array.of(0x7b, 0xff, 0xfe, 0x7d) })],
  [
    "a deep body",
    (body) => ({ body: withText(body, `"colour":${"[".repeat(DEEP)}${"]".repeat(DEEP)}`) }),
  ],
  ["a big body", (body) => ({ body: { ...body, colour: "x".repeat(BIG) } })],
];

export const CONTENT_TYPES: readonly [string, BodyFault][] = [
  "text/plain",
  "application/x-www-form-urlencoded",
  "multipart/form-data; boundary=x",
  "application/json; charset=utf-8",
  "application/json; charset=latin1",
  "APPLICATION/JSON",
  "application/problem+json",
  "json",
].map((contentType) => [
  `Content-Type ${contentType}`,
  (body) => ({ body: JSON.stringify(body), contentType }),
]);
