import { statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import Database from "libsql";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { openIndex, type SearchIndex } from "../../examples/documents-agent/search-index.mjs";
import { anyCharacter } from "../support/any-character.js";
import { SEEDED, sized } from "../support/size.js";
import { temporaryFolder } from "../support/temporary-folder.js";

function temporaryFile(): string {
  return join(temporaryFolder(), "index.db");
}

function newIndex(texts: { readonly [name: string]: string } = {}): SearchIndex {
  const index = openIndex(temporaryFile());
  onTestFinished(() => index.close());
  for (const [name, text] of Object.entries(texts)) index.put(name, `Title of ${name}`, text);
  return index;
}

const LIBRARY = {
  a: "Revenue rose by four percent, and the capability was revoked.",
  b: "Revenue fell. The root key is kept apart. Over allen Gipfeln ist Ruh.",
  c: "The salaries of the board: secret. Revenue secret secret secret.",
  d: "Über allen Gipfeln\nist Ruh.",
};
const ALL = Object.keys(LIBRARY);

function found(index: SearchIndex, query: string, names: readonly string[] = ALL): string[] {
  return index.search(query, names).map(({ name }) => name);
}

describe("queries", () => {
  const library = () => newIndex(LIBRARY);

  test.each([
    ["REVENUE", ["a", "b", "c"]],
    ["revenues", ["a", "b", "c"]],
    ["uber", ["d"]],
    ['"root key"', ["b"]],
    ['"key root"', []],
    ["root-key", ["b"]],
    ["capab*", ["a"]],
    ["capab", []],
    ['"root ke"*', ["b"]],
    ['"root ke', []],
    ['"root key', ["b"]],
    ["revenue fell", ["b", "a", "c"]],
    ["nowhere salaries", ["c"]],
    ["nowhere", []],
  ])("%s", (query, names) => {
    expect(found(library(), query).sort()).toEqual([...names].sort());
  });

  test("documents with more of the words come first, then those where they count for more", () => {
    const index = newIndex({
      once: `needle ${"hay ".repeat(200)}`,
      often: `needle needle needle ${"hay ".repeat(200)}`,
      both: `needle ${"hay ".repeat(400)} thread`,
    });
    expect(found(index, "needle thread", ["once", "often", "both"])).toEqual([
      "both",
      "often",
      "once",
    ]);
    index.put("titled", "Needle", "hay ".repeat(200));
    expect(found(index, "needle", ["once", "titled"])).toEqual(["titled", "once"]);
  });

  test("the snippet is the text around what was found, on one line", () => {
    const index = newIndex({
      long: `${"before ".repeat(100)}\n\nneedle\n\n${"after ".repeat(100)}`,
    });
    const [match] = index.search("needle", ["long"]);
    expect(match?.snippet).toMatch(/^…before .*before needle after .*after…$/);
    expect(match?.snippet.split(" ")).toHaveLength(32);
  });

  test("as many as asked for, at most", () => {
    const index = library();
    expect(index.search("revenue", ALL, 2)).toHaveLength(2);
    for (const limit of [0, 101, 1.5, Number.NaN]) {
      expect(() => index.search("revenue", ALL, limit)).toThrow(TypeError);
    }
  });
});

describe("FTS5's own syntax has no meaning", () => {
  test.each([
    ["an operator", "revenue NOT fell", ["a", "b", "c"]],
    ["OR", "salaries OR capability", ["a", "c"]],
    ["NEAR", "NEAR(root key, 9)", ["b"]],
    ["a column", "title:salaries", []],
    ["a column filter", "- title : salaries", ["a", "b", "c", "d"]],
    ["a column list", "{title text} : salaries", ["a", "b", "c", "d"]],
    ["a beginning", "^revenue", ["a", "b", "c"]],
    ["a plus", "root + key", ["b"]],
    ["a quote that is left open", '"', []],
    ["quotes within", 'x"" OR "revenue', ["a", "b", "c"]],
    ["stars alone", "* ** *", []],
    ["brackets", "((((", []],
    ["a command", "'; DROP TABLE documents; --", []],
    ["a bound parameter", "?1 :name @x $y", []],
    ["NUL", "revenue\0", ["a", "b", "c"]],
    ["NUL in a phrase", '"root\0key"', ["b"]],
    ["half a surrogate pair", "\ud800 revenue", ["a", "b", "c"]],
    ["what is no word", "😀 !!! —", []],
    ["nothing", "", []],
  ])("%s: %s", (_about, query, names) => {
    expect(found(newIndex(LIBRARY), query).sort()).toEqual(names);
  });

  test("any text is a query, and none is slow", () => {
    const index = newIndex(LIBRARY);
    const syntax = fc.constantFrom(..."\"*^:+-(){}', \0\\", "NEAR", "AND", "NOT", "OR", "revenue");
    const text = fc.oneof(
      fc.string({ unit: anyCharacter }),
      fc.array(syntax, { maxLength: 40 }).map((parts) => parts.join("")),
    );
    fc.assert(
      fc.property(text, (query) => {
        expect(found(index, query, ["a", "d"]).every((name) => "ad".includes(name))).toBe(true);
      }),
      { numRuns: sized(1000) },
    );
    const started = performance.now();
    expect(found(index, '"revenue" '.repeat(100_000))).toHaveLength(3);
    expect(found(index, "a* ".repeat(100_000))).not.toHaveLength(0);
    expect(performance.now() - started).toBeLessThan(1000);
  });
});

/** A step that begins with what is named, or goes from there to rows by their key. */
const BY_KEY =
  /^(?:SCAN (?:named|allowed) VIRTUAL TABLE .*|SEARCH (?:documents|postings) USING .*\((?:name|rowid|document)=\?.*)$/;

/** Rows of a statement, of the type that the test knows them to have. */
function plain<Row>(rows: readonly unknown[]): Row[] {
  return JSON.parse(JSON.stringify(rows));
}

describe("only the documents named", () => {
  test("no other is found, whatever is asked", () => {
    const index = newIndex(LIBRARY);
    expect(found(index, "secret", ["a", "b"])).toEqual([]);
    expect(found(index, "revenue", ["b"])).toEqual(["b"]);
    expect(found(index, "revenue", [])).toEqual([]);
    expect(found(index, "revenue", ["nowhere", 'b") OR 1=1 --', "%", '["c"]'])).toEqual([]);
  });

  test("others do not change anything: not the order, not a rank", () => {
    const words = ["revenue", "secret", "key", "rose", "fell", "board"];
    const text = fc.array(fc.constantFrom(...words), { maxLength: 30 }).map((all) => all.join(" "));
    const library = fc.array(text, { minLength: 1, maxLength: 8 });
    const query = fc.array(fc.constantFrom(...words), { minLength: 1, maxLength: 3 });
    const [alone, among] = [newIndex(), newIndex()];
    fc.assert(
      fc.property(library, library, query, (seen, hidden, asked) => {
        for (const index of [alone, among]) {
          for (const name of index.versions().keys()) index.remove(name);
        }
        const names = seen.map((_text, at) => `seen ${at}`);
        for (const [at, text] of hidden.entries()) among.put(`hidden ${at}`, "Revenue", text);
        for (const [at, text] of seen.entries()) {
          for (const index of [alone, among]) index.put(`seen ${at}`, "Some title", text);
        }
        const expected = alone.search(asked.join(" "), names);
        expect(among.search(asked.join(" "), names)).toEqual(expected);
      }),
      { numRuns: 100 },
    );
  });

  test("and no other's rows are looked at: every statement goes from what is named by key", () => {
    const asked = new Set<string>();
    const prepare = Database.prototype.prepare;
    vi.spyOn(Database.prototype, "prepare").mockImplementation(function (
      this: Database.Database,
      sql,
    ) {
      const statement = prepare.call(this, sql);
      const { all } = statement;
      statement.all = (...values: unknown[]) => {
        asked.add(sql);
        return Reflect.apply(all, statement, values);
      };
      return statement;
    });
    onTestFinished(() => void vi.restoreAllMocks());
    const file = temporaryFile();
    const index = openIndex(file);
    onTestFinished(() => index.close());
    for (const [name, text] of Object.entries(LIBRARY)) index.put(name, "A title", text);
    asked.clear();
    expect(found(index, 'revenue capab* "root key"', ["a", "b"])).toEqual(["a", "b"]);
    expect(index.versionOf("a")).toBe("");

    const database = new Database(file);
    onTestFinished(() => void database.close());
    const own = [...asked].filter((sql) => /\b(?:documents|postings)\b/.test(sql));
    expect(own).toHaveLength(4);
    for (const sql of own) {
      const plan: { readonly detail: string }[] = plain(
        database.prepare(`EXPLAIN QUERY PLAN ${sql}`).all(),
      );
      for (const { detail } of plan) expect(detail, sql).toMatch(BY_KEY);
    }
  });
});

describe("words are found as FTS5 finds them", () => {
  test("whatever is in the texts and in the query", () => {
    const database = new Database(":memory:");
    onTestFinished(() => void database.close());
    database.exec(
      "CREATE VIRTUAL TABLE texts USING fts5(title, text, tokenize = 'porter unicode61 remove_diacritics 2')",
    );
    const put = database.prepare("INSERT INTO texts (rowid, title, text) VALUES (?, ?, ?)");
    const ask = database.prepare(
      "SELECT rowid AS at FROM texts WHERE texts MATCH ? ORDER BY rowid",
    );
    const index = newIndex();
    const words = [
      "revenue",
      "Revenues",
      "Ruhe",
      "über",
      "uber",
      "co-op",
      "x1",
      "straße",
      "日本",
      "i",
    ];
    const text = fc
      .array(fc.oneof(fc.constantFrom(...words), fc.string({ unit: "grapheme", maxLength: 4 })), {
        maxLength: 12,
      })
      .map((all) => all.join(" ").replaceAll("\0", " ").toWellFormed());
    const phrase = fc
      .array(fc.constantFrom(...words), { minLength: 1, maxLength: 3 })
      .map((all) => `"${all.join(" ")}"`);
    const term = fc.tuple(fc.oneof(phrase, fc.constantFrom("rev", "u", "co", "日")), fc.boolean());
    let matched = 0;
    fc.assert(
      fc.property(
        fc.array(fc.tuple(text, text), { maxLength: 6 }),
        term,
        (texts, [asked, goesOn]) => {
          database.exec("DELETE FROM texts");
          for (const name of index.versions().keys()) index.remove(name);
          for (const [at, [title, body]] of texts.entries()) {
            put.run(at, title, body);
            index.put(`${at}`, title, body);
          }
          const quoted = `"${asked.replaceAll('"', "")}"`;
          const rows: { readonly at: number }[] = plain(ask.all(`${quoted}${goesOn ? " *" : ""}`));
          const expected = rows.map(({ at }) => `${at}`);
          matched += expected.length;
          const names = texts.map((_text, at) => `${at}`);
          expect(found(index, `${quoted}${goesOn ? "*" : ""}`, names).sort()).toEqual(expected);
        },
      ),
      { numRuns: sized(300), ...SEEDED },
    );
    expect(matched).toBeGreaterThan(sized(50, 3));
  });
});

describe("updates", () => {
  test("a document that is put again is there once, in its new form", () => {
    const index = newIndex(LIBRARY);
    index.put("a", "Another", "Nothing of before.", "2");
    expect(found(index, "capability")).toEqual([]);
    expect(found(index, "nothing")).toEqual(["a"]);
    expect(found(index, "another")).toEqual(["a"]);
    expect(index.versions().get("a")).toBe("2");
    expect(index.versions().size).toBe(ALL.length);
  });

  test("one that is removed is gone, and nothing of it stays", () => {
    const file = temporaryFile();
    const index = openIndex(file);
    index.put("a", "A title", "quokka");
    index.put("b", "B title", "quoll");
    index.remove("a");
    index.remove("never there");
    expect(found(index, "quokka")).toEqual([]);
    expect(found(index, "quo*")).toEqual(["b"]);
    index.close();
    const database = new Database(file);
    expect(database.prepare("SELECT word FROM postings ORDER BY word").all()).toEqual([
      { word: "b" },
      { word: "quoll" },
      { word: "titl" },
    ]);
    expect(database.prepare("SELECT name FROM documents").all()).toEqual([{ name: "b" }]);
    database.close();
  });

  test("texts are kept with what SQLite would cut off or refuse", () => {
    const index = newIndex({ a: "before\0after", b: "half \ud800 pair" });
    expect(found(index, "after")).toEqual(["a"]);
    expect(found(index, "pair")).toEqual(["b"]);
    for (const name of ["", "a\0b", "\udc00"]) {
      expect(() => index.put(name, "title", "text")).toThrow(TypeError);
    }
  });

  test("what was put is there after the file is opened again, its owner's alone", () => {
    const file = temporaryFile();
    const before = openIndex(file);
    before.put("a", "Title", LIBRARY.a, "7");
    before.close();
    const after = openIndex(file);
    expect([...after.versions()]).toEqual([["a", "7"]]);
    expect(found(after, "revenue")).toEqual(["a"]);
    if (process.platform !== "win32") expect(statSync(file).mode & 0o777).toBe(0o600);
    after.close();
  });

  test("an index of the version before is emptied, and can be used", () => {
    const file = temporaryFile();
    const database = new Database(file);
    database.exec(`
      CREATE TABLE documents (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, version TEXT, words INTEGER);
      CREATE VIRTUAL TABLE texts USING fts5(title, text);
      INSERT INTO documents VALUES (1, 'a', '7', 2);
      INSERT INTO texts (rowid, title, text) VALUES (1, 'Title', 'quokka');
      PRAGMA application_id = 1886549505;
    `);
    database.close();
    for (const text of ["quokka", "quoll"]) {
      const index = openIndex(file);
      expect(index.versions().size).toBe(text === "quokka" ? 0 : 1);
      index.put("a", "Title", text);
      expect(found(index, text)).toEqual(["a"]);
      index.close();
    }
  });

  test("another SQLite file is not touched, and neither is a file of something else", () => {
    const file = temporaryFile();
    const database = new Database(file);
    database.exec("CREATE TABLE documents (id INTEGER)");
    database.close();
    expect(() => openIndex(file)).toThrow(/not a search index of this version/);
    const other = temporaryFile();
    writeFileSync(other, "Not a database, but a letter.".repeat(100));
    expect(() => openIndex(other)).toThrow(/not a database/);
  });
});
