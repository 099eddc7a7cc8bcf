import { describe, expect, test } from "vitest";
import {
  MAX_CANDIDATES,
  MIN_TOKEN_LENGTH,
  type SearchResult,
  TokenSearch,
} from "../../src/agent/token-search.js";
import type { Json } from "../../src/bytes/json.js";
import { encodeIdentifier } from "../../src/capability/identifier.js";
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
import { attenuated, fixture, mint } from "../capability/support.js";
import { FULL } from "../support/size.js";

const { issuer } = fixture();
const stranger = fixture({ keys: createKeyring() }).issuer;
const TOKEN = mint(issuer);
/** A token in padded standard base64, all of whose characters both alphabets have. */
function standard(): string {
  for (let tries = 0; tries < 200; tries++) {
    const token = attenuated(TOKEN, { purpose: `${tries}`.padStart(tries % 7, ">?") });
    const text = Buffer.from(token, "base64url").toString("base64");
    if (text.includes("+") && text.includes("/")) return text;
  }
  throw new Error("no such token was found");
}

function look(value: unknown): SearchResult {
  return new TokenSearch((text) => issuer.isAuthentic(text)).look(value);
}

describe("the search for tokens in text", () => {
  const child = attenuated(TOKEN, { purpose: "a child", expires: "2027-01-15T08:01:00Z" });

  test.each<[string, (text: string) => unknown]>([
    ["alone", (text) => text],
    ["within words", (text) => `use ${text}, please. "Then" {go} on: \\n`],
    ["in quotes, after an open brace", (text) => `{"i":"${text}`],
    ["in an array", (text) => [1, null, [text], undefined]],
    ["in a property", (text) => ({ deep: { deeper: [{ note: `x ${text}` }] } })],
    ["as a property's name", (text) => ({ [text]: 1 })],
    ["as JSON within a string", (text) => JSON.stringify({ note: [text] })],
    ["as JSON within JSON within a string", (text) => JSON.stringify([JSON.stringify({ text })])],
    ["at the end of a long string", (text) => `${"lorem ipsum {} ".repeat(9000)}${text}`],
  ])("finds a token %s", (_, place) => {
    expect(look(place(TOKEN))).toBe("token");
    expect(look(place(child))).toBe("token");
  });

  test("finds a token whose characters are written as escapes", () => {
    const spelt = [...TOKEN].map((letter) => `\\u00${letter.charCodeAt(0).toString(16)}`).join("");
    expect(look(spelt)).toBe("token");
    expect(look({ note: JSON.stringify({ text: spelt }) })).toBe("token");
  });

  test("ignores a token with another issuer's key, and a truncated token", () => {
    const foreign = mint(stranger);
    expect(look([foreign, { [foreign]: `a ${foreign}` }])).toBe("none");
    expect(look(TOKEN.slice(0, -8))).toBe("none");
  });
});

describe("a base64 token within text", () => {
  test.each<[string, string, string]>([
    ["in the other alphabet", "", ""],
    ["behind a path", "https://agent.example/tokens/", "/more"],
    ["between underscores", "__", "__"],
    ["behind letters", "Bearer", ""],
    ["before letters", "", "AAAA"],
    ["between dashes", "--", "--"],
  ])("is found %s", (_, before, behind) => {
    expect(look(`${before}${TOKEN}${behind}`)).toBe("token");
    expect(look(`${before}${standard()}${behind}`)).toBe("token");
  });
});

test("a token without its discharges is found as a token", () => {
  const parsed = parseMacaroon(TOKEN);
  const bound = addThirdPartyCaveat(parsed, {
    key: new Uint8Array(32).fill(7),
    identifier: "who is it",
  });
  const token = macaroonToText(bound);
  expect(issuer.authorize(token, { grant: "files", operation: "get" }).allowed).toBe(false);
  expect(look(`take ${token}`)).toBe("token");
});

test("the search finds an expired token", () => {
  const spent = attenuated(TOKEN, { expires: "2026-01-15T08:00:01Z" });
  expect(look(spent)).toBe("token");
});

test("isAuthentic is false for a token whose key the issuer does not have", () => {
  const { keys } = fixture();
  const retired = fixture({ keys: createKeyring() });
  expect(retired.issuer.isAuthentic(mint(fixture({ keys }).issuer))).toBe(false);
});

test("the shortest possible token has MIN_TOKEN_LENGTH characters, and the search judges it", () => {
  const identifier = encodeIdentifier({
    v: 1,
    iss: "i",
    kid: "k",
    id: `cap_${"A".repeat(16)}`,
    grant: "g",
    issued: "2026-01-31T23:59:59Z",
  });
  const root = createMacaroon(createRootKey(new Uint8Array(32)), { identifier });
  expect(macaroonToText(root).length).toBe(MIN_TOKEN_LENGTH);
  const seen: string[] = [];
  new TokenSearch((text) => seen.push(text) > 0).look(` ${macaroonToText(root)} `);
  expect(seen).toEqual([macaroonToText(root)]);
});

describe("the bound of the search for tokens", () => {
  const foreign = (count: number): string[] => Array.from({ length: count }, () => mint(stranger));

  test("limits the number of candidate strings that are judged", () => {
    expect(look(foreign(MAX_CANDIDATES))).toBe("none");
    expect(look(foreign(MAX_CANDIDATES + 1))).toBe("too_many");
    expect(look(foreign(MAX_CANDIDATES + 1).join(" "))).toBe("too_many");
    // Further candidates are not judged.
    expect(look([TOKEN, ...foreign(MAX_CANDIDATES)].reverse())).not.toBe("none");
  });

  test("counts all values of one search together", () => {
    const search = new TokenSearch((text) => issuer.isAuthentic(text));
    expect(search.look(foreign(40))).toBe("none");
    expect(search.look(foreign(40))).toBe("too_many");
  });

  test("does not count strings that cannot be a token", () => {
    const run = Buffer.alloc(150_000, 2).toString("base64");
    expect(look([run, Buffer.from(run).toString("base64"), "AgEA".repeat(40_000)])).toBe("none");
    const items = Array.from({ length: 500 }, (_, at) => ({ i: at, text: "x".repeat(300) }));
    expect(look(JSON.stringify(items))).toBe("none");
    expect(look(JSON.stringify({ items }))).toBe("none");
    const lines = Array.from({ length: 2000 }, (_, at) => `{"message":"line ${at} that is cut of`);
    expect(look(lines.join("\n"))).toBe("none");
  });
});

test("a macaroon that is not a capability is not found as a token", () => {
  const key = createRootKey(new Uint8Array(32).fill(1));
  const other = addFirstPartyCaveat(createMacaroon(key, { identifier: "x".repeat(200) }), "y");
  expect(look(macaroonToText(other))).toBe("none");
});

test.each<MacaroonFormat>(["v1", "v1json", "v2json"])(
  "a token in the format %s is not found",
  (format) => {
    expect(look(writeMacaroons([parseMacaroon(TOKEN)], format))).toBe("none");
  },
);

test("the search stops after a total number of characters, even in few strings", () => {
  const forged = `${attenuated(TOKEN, { purpose: "x".repeat(4000) }).slice(0, -6)}AAAAAA`;
  expect(look([forged])).toBe("none");
  expect(look(Array.from({ length: 20 }, () => forged))).toBe("too_many");
});

describe("the search finds every spelling of a macaroon", () => {
  const bound = addThirdPartyCaveat(parseMacaroon(TOKEN), {
    key: new Uint8Array(32).fill(7),
    identifier: "who is it",
    location: "https://auth.example",
  });

  /** Returns the strings that a search judges. */
  function judged(value: Json): string[] {
    const seen: string[] = [];
    expect(new TokenSearch((text) => seen.push(text) < 0).look(value)).toBe("none");
    return seen;
  }

  test("with a third-party caveat and its location", () => {
    expect(look(macaroonToText(bound))).toBe("token");
    expect(look(`see ${macaroonToText(bound)}`)).toBe("token");
  });

  test("with any location, because the location of a macaroon is not signed", () => {
    const { identifier } = parseMacaroon(TOKEN);
    const key = createRootKey(new Uint8Array(32));
    const own = macaroonToText(createMacaroon(key, { identifier }));
    for (const location of ["x", "https://agent.example/".padEnd(200, "x"), "x".repeat(50_000)]) {
      const text = macaroonToText(createMacaroon(key, { identifier, location }));
      expect(judged(text)).toEqual([own]);
      expect(judged(`xy${text}zz`)).toEqual([own]);
    }
  });

  test("with locations that are not UTF-8", () => {
    const [version = 0, ...rest] = Buffer.from(TOKEN, "base64url");
    const odd = Buffer.from([version, 1, 2, 0xff, 0xfe, ...rest]);
    expect(look(odd.toString("base64url"))).toBe("token");
    const party = Buffer.from(macaroonToText(bound), "base64url");
    party[party.indexOf("https://auth.example")] = 0xff;
    expect(look(party.toString("base64url"))).toBe("token");
  });
});

describe("JSON nested in strings", () => {
  const nested = (levels: number): string => {
    let text = TOKEN.replace("A", String.raw`\u0041`);
    for (let level = 0; level < levels; level++) text = JSON.stringify({ text });
    return text;
  };

  test("is searched through three levels of escapes, and no deeper", () => {
    expect([0, 1, 2].map((levels) => look(nested(levels)))).toEqual(
      Array.from({ length: 3 }, () => "token"),
    );
    expect(look(nested(3))).toBe("none");
    expect(look(nested(5))).toBe("none");
  });

  test("is searched at any depth if the token itself has no escapes", () => {
    let text = TOKEN;
    for (let level = 0; level < 10; level++) text = JSON.stringify({ text });
    expect(look(text)).toBe("token");
  });
});

if (FULL) {
  test("one run of base64 of 12 MB is searched to its end", () => {
    const run = "x".repeat(12_000_000);
    expect(look(run)).toBe("none");
    expect(look(`${run}${TOKEN}`)).toBe("token");
    expect(look(`${run}+/`)).toBe("none");
  });
}

test("a search of a string with many possible beginnings of a macaroon stops after 1,024 of them", () => {
  const begun = Buffer.from([2, 2, 100, 0x7b, ...Array.from({ length: 99 }, () => 0x20), 0, 0]);
  expect(begun.length % 3).toBe(0);
  const text = (count: number): string =>
    Buffer.concat([...Array.from({ length: count }, () => begun), Buffer.alloc(200)]).toString(
      "base64url",
    );
  expect([1024, 1025].map((count) => look(text(count)))).toEqual(["none", "too_many"]);
});
