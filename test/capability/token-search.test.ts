import { describe, expect, test } from "vitest";
import type { Json } from "../../src/bytes/json.js";
import { encodeIdentifier } from "../../src/capability/identifier.js";
import {
  MAX_CANDIDATES,
  MIN_TOKEN_LENGTH,
  type SearchResult,
  TokenSearch,
} from "../../src/capability/token-search.js";
import { createKeyring } from "../../src/issuer/index.js";
import {
  addFirstPartyCaveat,
  addThirdPartyCaveat,
  createMacaroon,
  createRootKey,
  type MacaroonFormat,
  macaroonToText,
  parseMacaroon,
  writeMacaroons,
} from "../../src/macaroon/index.js";
import { attenuated, fixture, mint } from "./support.js";

const { issuer } = fixture();
const stranger = fixture({ keys: createKeyring() }).issuer;
const TOKEN = mint(issuer);
const FORMATS: readonly MacaroonFormat[] = ["v1", "v2", "v1json", "v2json"];

function written(token: string, format: MacaroonFormat): string {
  return writeMacaroons([parseMacaroon(token)], format);
}

/** Standard base64, padded, of a token that has characters only of that alphabet. */
function standard(format: "v1" | "v2"): string {
  for (let tries = 0; tries < 200; tries++) {
    const token = written(
      attenuated(TOKEN, { purpose: `${tries}`.padStart(tries % 7, ">?") }),
      format,
    );
    const text = Buffer.from(token, "base64url").toString("base64");
    if (text.includes("+") && text.includes("/")) return text;
  }
  throw new Error("no such token was found");
}

function look(value: Json): SearchResult {
  return new TokenSearch((text) => issuer.isAuthentic(text)).look(value);
}

describe.each(FORMATS)("a token in %s", (format) => {
  const token = written(TOKEN, format);
  const child = written(
    attenuated(TOKEN, { purpose: "a child", expires: "2027-01-15T08:01:00Z" }),
    format,
  );

  test.each<[string, (text: string) => Json]>([
    ["alone", (text) => text],
    ["within words", (text) => `use ${text}, please. "Then" {go} on: \\n`],
    ["quoted, after an open brace and a quote", (text) => `{"i":"${text}`],
    ["in a list", (text) => [1, null, [text]]],
    ["in a member", (text) => ({ deep: { deeper: [{ note: `x ${text}` }] } })],
    ["as a member's name", (text) => ({ [text]: 1 })],
    ["as JSON within a text", (text) => JSON.stringify({ note: [text] })],
    ["as JSON within JSON within a text", (text) => JSON.stringify([JSON.stringify({ text })])],
    ["at the end of a long text", (text) => `${"lorem ipsum {} ".repeat(9000)}${text}`],
  ])("is found %s", (_, place) => {
    expect(look(place(token))).toBe("token");
    expect(look(place(child))).toBe("token");
  });

  test("is found with its JSON as a value, not a text", () => {
    if (!format.endsWith("json")) return;
    expect(look({ note: JSON.parse(token) })).toBe("token");
    expect(look([[JSON.parse(child)]])).toBe("token");
  });

  test("is found where its members are spelt with escapes", () => {
    if (!format.endsWith("json")) return;
    const spelt = token.replace(/"s(64|ignature)":/, '"\\u0073$1":');
    expect(spelt).toContain("\\u0073");
    expect(look(spelt)).toBe("token");
  });

  test("of another issuer's key is none, nor is one cut short", () => {
    const foreign = written(mint(stranger), format);
    expect(look([foreign, { [foreign]: `a ${foreign}` }])).toBe("none");
    expect(look(token.slice(0, -8))).toBe("none");
  });
});

describe.each(["v1", "v2"] as const)("base64 of %s", (format) => {
  test.each<[string, string, string]>([
    ["in the other alphabet", "", ""],
    ["behind a path", "https://agent.example/tokens/", "/more"],
    ["between underscores", "__", "__"],
    ["behind letters", "Bearer", ""],
    ["before letters", "", "AAAA"],
    ["between dashes", "--", "--"],
  ])("is found %s", (_, before, behind) => {
    expect(look(`${before}${written(TOKEN, format)}${behind}`)).toBe("token");
    expect(look(`${before}${standard(format)}${behind}`)).toBe("token");
  });
});

test("a token without its discharges is one", () => {
  const parsed = parseMacaroon(TOKEN);
  const bound = addThirdPartyCaveat(parsed, {
    key: new Uint8Array(32).fill(7),
    identifier: "who is it",
  });
  const token = macaroonToText(bound);
  expect(issuer.authorize(token, { grant: "files", operation: "get" }).allowed).toBe(false);
  expect(look(`take ${token}`)).toBe("token");
});

test("what is expired, revoked or not this issuer's own any more is judged by its key alone", () => {
  const spent = attenuated(TOKEN, { expires: "2026-01-15T08:00:01Z" });
  expect(look(spent)).toBe("token");
  const { keys } = fixture();
  const retired = fixture({ keys: createKeyring() });
  expect(retired.issuer.isAuthentic(mint(fixture({ keys }).issuer))).toBe(false);
});

test("the shortest token that there can be is as long as the search believes", () => {
  const identifier = encodeIdentifier({
    ...{ v: 1, iss: "i", kid: "k", id: `cap_${"A".repeat(16)}`, grant: "g" },
    issued: "2026-01-31T23:59:59Z",
  });
  const root = createMacaroon(createRootKey(new Uint8Array(32)), { identifier });
  const lengths = FORMATS.map((format) => writeMacaroons([root], format).length);
  expect(Math.min(...lengths)).toBe(MIN_TOKEN_LENGTH);
  for (const format of FORMATS) {
    const seen: string[] = [];
    new TokenSearch((text) => seen.push(text) > 0).look(` ${writeMacaroons([root], format)} `);
    expect(seen.map((text) => macaroonToText(parseMacaroon(text)))).toEqual([macaroonToText(root)]);
  }
});

describe("a search is bounded", () => {
  const foreign = (count: number, format: MacaroonFormat): string[] =>
    Array.from({ length: count }, () => written(mint(stranger), format));

  test.each(FORMATS)("by %s that may be tokens", (format) => {
    expect(look(foreign(MAX_CANDIDATES, format))).toBe("none");
    expect(look(foreign(MAX_CANDIDATES + 1, format))).toBe("too_many");
    expect(look(foreign(MAX_CANDIDATES + 1, format).join(" "))).toBe("too_many");
    // What comes after so many is not judged, whatever it is.
    expect(look([TOKEN, ...foreign(MAX_CANDIDATES, format)].reverse())).not.toBe("none");
  });

  test("over all values together", () => {
    const search = new TokenSearch((text) => issuer.isAuthentic(text));
    expect(search.look(foreign(40, "v2"))).toBe("none");
    expect(search.look(foreign(40, "v2"))).toBe("too_many");
  });

  test("and what cannot be a token does not count", () => {
    const run = Buffer.alloc(150_000, 2).toString("base64");
    expect(look([run, Buffer.from(run).toString("base64"), "AgEA".repeat(40_000)])).toBe("none");
    const items = Array.from({ length: 500 }, (_, at) => ({ i: at, text: "x".repeat(300) }));
    expect(look(JSON.stringify(items))).toBe("none");
    expect(look(JSON.stringify({ items }))).toBe("none");
    const lines = Array.from({ length: 2000 }, (_, at) => `{"message":"line ${at} that is cut of`);
    expect(look(lines.join("\n"))).toBe("none");
  });
});

test("a caveat is no token, nor is a macaroon that is no capability", () => {
  const key = createRootKey(new Uint8Array(32).fill(1));
  const other = addFirstPartyCaveat(createMacaroon(key, { identifier: "x".repeat(200) }), "y");
  for (const format of FORMATS) expect(look(writeMacaroons([other], format))).toBe("none");
});

describe("what stands beside a macaroon's own members does not hide it", () => {
  const { v, i, c, s64 } = JSON.parse(written(TOKEN, "v2json"));
  const { identifier, caveats, signature } = JSON.parse(written(TOKEN, "v1json"));
  test.each<[string, Json]>([
    ["a member of v2", { v, i, c, s64, note: "x" }],
    ["a member of v1", { identifier, caveats, signature, note: "x" }],
    ["a second encoding", { v, i, i64: "e30", c, s64 }],
    [
      "a member of a caveat",
      { v, i, c: c.map((one: Json) => Object.assign({}, one, { n: 1 })), s64 },
    ],
  ])("%s", (_, value) => {
    expect(look(value)).toBe("token");
    expect(look(`see ${JSON.stringify(value)}`)).toBe("token");
  });
});

test("rows that only have such names are none, however many", () => {
  const rows = (row: Json): Json => Array.from({ length: 300 }, () => row);
  expect(look(rows({ i: 1, s: "long text ".repeat(30) }))).toBe("none");
  expect(look(rows({ identifier: "x".repeat(300), signature: "y" }))).toBe("none");
});

test("no more than so many characters are judged, however few the texts", () => {
  const forged = `${attenuated(TOKEN, { purpose: "x".repeat(4000) }).slice(0, -6)}AAAAAA`;
  expect(look([forged])).toBe("none");
  expect(look(Array.from({ length: 20 }, () => forged))).toBe("too_many");
});

describe("every spelling of a macaroon is seen", () => {
  const bound = addThirdPartyCaveat(parseMacaroon(TOKEN), {
    ...{ key: new Uint8Array(32).fill(7), identifier: "who is it" },
    location: "https://auth.example",
  });

  /** What a search judges. */
  function judged(value: Json): string[] {
    const seen: string[] = [];
    expect(new TokenSearch((text) => seen.push(text) < 0).look(value)).toBe("none");
    return seen;
  }

  test.each(FORMATS)("with a third party's caveat and its location, in %s", (format) => {
    const text = writeMacaroons([bound], format);
    expect(look(text)).toBe("token");
    expect(look(`see ${text}`)).toBe("token");
    if (format.endsWith("json")) expect(look({ note: JSON.parse(text) })).toBe("token");
  });

  test.each(["v1", "v2"] as const)("with a location of its own, in %s", (format) => {
    const { identifier } = parseMacaroon(TOKEN);
    for (const location of ["x", "https://agent.example/".padEnd(200, "x")]) {
      const own = createMacaroon(createRootKey(new Uint8Array(32)), { identifier, location });
      const text = writeMacaroons([own], format);
      const [seen = "", ...others] = judged(text);
      expect(others).toEqual([]);
      expect(parseMacaroon(seen)).toEqual(own);
      expect(parseMacaroon(judged(`xy${text}zz`)[0] ?? "")).toEqual(own);
    }
  });

  test("in either encoding of identifier and signature", () => {
    const { i, c, s64 } = JSON.parse(written(TOKEN, "v2json"));
    const i64 = Buffer.from(i).toString("base64url");
    const s = "é".repeat(16);
    const long = "x".repeat(200);
    expect(look({ i64, c, s64 })).toBe("token");
    expect(judged({ i: long, c: 7, s })).toEqual([JSON.stringify({ v: 2, i: long, c: [], s })]);
    expect(judged({ i64: long, c: [1], s64: `${"A".repeat(42)}+=` })).toHaveLength(1);
    const none: Json[] = [
      ...[
        { i: long, s: "é".repeat(15) },
        { i: long, s: "é".repeat(17) },
        { i: long, s: "x".repeat(33) },
      ],
      ...[{ i: long, s: 1 }, { i: 1, s }, { i64: [long], s }, { s, c: long }, [long, "s"]],
      ...[`${"A".repeat(44)}=`, `x${"A".repeat(43)}`, `${"A".repeat(43)}==`, "A".repeat(42)].map(
        (s64) => ({ i: long, s64 }),
      ),
      ...["0".repeat(63), "0".repeat(65), "g".repeat(64), 7].map((signature) => ({
        ...{ identifier: long, signature },
      })),
      { identifier: 7, signature: "0".repeat(64), c: long },
    ];
    for (const value of none) expect(judged(value), JSON.stringify(value)).toEqual([]);
    expect(judged({ identifier: long, signature: "aF".repeat(32) })).toHaveLength(1);
  });
});

describe("JSON within texts", () => {
  const nested = (levels: number): string => {
    let text = written(TOKEN, "v2json").replace('"s64"', '"\\u0073\\u0036\\u0034"');
    for (let level = 0; level < levels; level++) text = JSON.stringify({ text });
    return text;
  };

  test("is read three deep, whatever is escaped", () => {
    expect([0, 1, 2, 3].map((levels) => look(nested(levels)))).toEqual(
      Array.from({ length: 4 }, () => "token"),
    );
    expect(look(nested(5))).toBe("none");
  });

  test("ends at the end of a line, and at what nests deeper than a macaroon", () => {
    const text = written(TOKEN, "v1json");
    expect(look(text.replace('"signature"', '"a\nb":1,"signature"'))).toBe("none");
    expect(look(text.replace('"signature"', '"a\\nb":1,"signature"'))).toBe("token");
    expect(look(text.replace('"signature"', '"a":[[1]],"signature"'))).toBe("token");
    expect(look(text.replace('"signature"', '"a":[[[1]]],"signature"'))).toBe("none");
    expect(look(text.replace('"signature"', '"a":"\\"[[[[","signature"'))).toBe("token");
  });
});

test("what only begins like a macaroon is read so often, and no oftener", () => {
  const begun = Buffer.from([2, 2, 100, 0x7b, ...Array.from({ length: 99 }, () => 0x20), 0, 0]);
  expect(begun.length % 3).toBe(0);
  const text = (count: number): string =>
    Buffer.concat([...Array.from({ length: count }, () => begun), Buffer.alloc(200)]).toString(
      "base64url",
    );
  expect([1024, 1025].map((count) => look(text(count)))).toEqual(["none", "too_many"]);
});
