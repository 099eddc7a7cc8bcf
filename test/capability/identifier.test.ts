import { describe, expect, test } from "vitest";
import {
  decodeIdentifier,
  encodeIdentifier,
  type Identifier,
  isCapabilityId,
} from "../../src/capability/identifier.js";
import { misuse, tokenError, utf8 } from "./support.js";

const IDENTIFIER: Identifier = {
  v: 1,
  iss: "agent",
  kid: "key_1",
  id: "cap_AAAAAAAAAAAAAAAA",
  grant: "files",
  issued: "2030-01-01T00:00:00Z",
  principal: "alice",
};

const TEXT =
  '{"grant":"files","id":"cap_AAAAAAAAAAAAAAAA","iss":"agent","issued":"2030-01-01T00:00:00Z",' +
  '"kid":"key_1","principal":"alice","v":1}';

/** Returns TEXT with the JSON of one property replaced or removed. */
function changed(member: string, value?: string): string {
  const members = Object.entries({ ...JSON.parse(TEXT), [member]: value })
    .filter(([, one]) => one !== undefined)
    .sort(([a], [b]) => (a < b ? -1 : 1));
  const texts = members.map(([name, one]) =>
    [JSON.stringify(name), name === member ? value : JSON.stringify(one)].join(":"),
  );
  return `{${texts.join(",")}}`;
}

test("encodeIdentifier writes canonical form, and decodeIdentifier reads it back", () => {
  expect(new TextDecoder().decode(encodeIdentifier(IDENTIFIER))).toBe(TEXT);
  expect(decodeIdentifier(utf8(TEXT))).toEqual(IDENTIFIER);
});

test("decodeIdentifier reads an identifier without a principal", () => {
  const { principal: _, ...rest } = IDENTIFIER;
  expect(decodeIdentifier(utf8(changed("principal")))).toEqual(rest);
});

const BAD: [string, string][] = [
  ["version 2", changed("v", "2")],
  ["a version as a string", changed("v", '"1"')],
  ["no version", changed("v")],
  ["an extra property", changed("scope", '"x"')],
  ["an own __proto__", TEXT.replace("{", '{"__proto__":{},')],
  ["no issuer", changed("iss")],
  ["an empty issuer", changed("iss", '""')],
  ["an issuer that is not a string", changed("iss", "7")],
  ["no key id", changed("kid")],
  ["an empty key id", changed("kid", '""')],
  ["no grant", changed("grant")],
  ["an empty grant", changed("grant", '""')],
  ["grants as an array", changed("grant", '["files"]')],
  ["no id", changed("id")],
  ["a short id", changed("id", '"cap_AAAAAAAAAAAAAAA"')],
  ["an id without prefix", changed("id", '"AAAAAAAAAAAAAAAAAAAA"')],
  ["an id in the standard alphabet", changed("id", '"cap_AAAAAAAAAAAAAAA+"')],
  ["an id with a line feed", changed("id", '"cap_AAAAAAAAAAAAAAAA\\n"')],
  ["an object in place of the id", changed("id", '{"toString":1}')],
  ["no issue time", changed("issued")],
  ["a day that does not exist", changed("issued", '"2030-02-29T00:00:00Z"')],
  ["an issue time with milliseconds", changed("issued", '"2030-01-01T00:00:00.000Z"')],
  ["a number for the issue time", changed("issued", "1893456000")],
  ["an object in place of the issue time", changed("issued", '{"toString":1}')],
  ["an empty principal", changed("principal", '""')],
  ["null as the principal", changed("principal", "null")],
];

describe("a malformed identifier", () => {
  test.each<[string, string | Uint8Array]>([
    ...BAD,
    ["an empty string", ""],
    ["prose", "user 7"],
    ["bytes that are not UTF-8", Uint8Array.from([0x7b, 0xff])],
    ["a byte order mark", `\uFEFF${TEXT}`],
    ["an array", `[${TEXT}]`],
    ["an empty object", "{}"],
    ["white space", TEXT.replace(":", ": ")],
    ["properties in another order", '{"v":1,"iss":"agent"}'],
    ["a property twice", TEXT.replace('"v":1', '"v":1,"v":1')],
    ["a number in another spelling", TEXT.replace('"v":1', '"v":1.0')],
    ["an escape that is not needed", TEXT.replace("alice", "\\u0061lice")],
    ["a lone surrogate", TEXT.replace("alice", "\\ud800")],
    ["JSON cut short", TEXT.slice(0, -1)],
  ])("is refused with the code identifier_malformed: %s", (_, text) => {
    const bytes = typeof text === "string" ? utf8(text) : text;
    expect(tokenError(() => decodeIdentifier(bytes))).toBe("identifier_malformed");
  });

  test.each(BAD)("is not written by encodeIdentifier: %s", (_, text) => {
    expect(misuse(() => encodeIdentifier(JSON.parse(text)))).toMatch(/identifier/);
  });
});

test.each([
  ["cap_AAAAAAAAAAAAAAAA", true],
  ["cap_azAZ09-_azAZ09-_azAZ", true],
  ["cap_AAAAAAAAAAAAAAA", false],
  ["CAP_AAAAAAAAAAAAAAAA", false],
  ["xcap_AAAAAAAAAAAAAAAA", false],
  ["", false],
])("isCapabilityId(%j) is %s", (text, expected) => {
  expect(isCapabilityId(text)).toBe(expected);
});
