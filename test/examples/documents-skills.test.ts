import { chmodSync, mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import { searchDocuments } from "../../examples/documents-agent/search.mjs";
import { handleOf, newAgent } from "./support.js";

const Q1 = "letters/q1.md";
const Q2 = "letters/q2.md";

function smallLibrary(path: string): void {
  mkdirSync(join(path, "letters"), { recursive: true });
  const head = "---\n# kept\ntitle: First\nauthor: Quintus\nconfidential: true\n---\n\n";
  writeFileSync(join(path, Q1), `${head}Of apples 🍎 and pears.\n`);
  writeFileSync(join(path, Q2), "No head, but apples.\n");
}

const small = () => newAgent(smallLibrary);

describe("a reading skill", () => {
  test("retrieve_document returns the text without front matter, cut to maxCharacters", async () => {
    const { run } = await small();
    const resourceHandle = handleOf(Q1);
    expect(await run("retrieve_document", [Q1], { resourceHandle })).toEqual({
      displayName: "First",
      fields: { title: "First", author: "Quintus", confidential: true },
      text: "Of apples 🍎 and pears.\n",
    });
    for (const [maxCharacters, text] of [
      [9, "Of apples"],
      [11, "Of apples "],
      [12, "Of apples 🍎"],
    ] as const) {
      const answer = await run("retrieve_document", [Q1], { resourceHandle, maxCharacters });
      expect(answer).toMatchObject({ text, truncated: true });
    }
    await expect(run("retrieve_document", [Q2], { resourceHandle })).rejects.toThrow("let through");
  });

  test("list_documents and search_documents return only the documents that the call may reach", async () => {
    const { run } = await small();
    expect(await run("list_documents", [Q2, Q1, "letters/"])).toEqual({
      documents: [
        {
          resourceHandle: handleOf(Q1),
          displayName: "First",
          fields: { title: "First", author: "Quintus", confidential: true },
        },
        { resourceHandle: handleOf(Q2), displayName: "q2.md", fields: {} },
      ],
    });
    const match = {
      resourceHandle: handleOf(Q2),
      displayName: "q2.md",
      snippet: "No head, but apples.",
    };
    expect(await run("search_documents", [Q2], { query: "apples" })).toEqual({ matches: [match] });
    expect(await run("search_documents", [], { query: "apples" })).toEqual({ matches: [] });
    const both = await run("search_documents", [Q1, Q2], { query: "apples", limit: 1 });
    expect(both).toMatchObject({ matches: [expect.anything()] });
    const byAuthor = await run("search_documents", [Q1, Q2], { query: "quintus" });
    expect(byAuthor).toMatchObject({ matches: [{ displayName: "First" }] });
  });
});

describe("a search for documents", () => {
  test("sees changes that another program made in the folder", async () => {
    const { path, run } = await small();
    const search = async (query: string) => run("search_documents", [Q1, Q2], { query });
    writeFileSync(join(path, Q2), "No head, but quince.\n");
    expect(await search("quince")).toMatchObject({ matches: [{ displayName: "q2.md" }] });
    expect(await search("but apples")).toMatchObject({
      matches: [{ displayName: "First" }, { displayName: "q2.md" }],
    });
    rmSync(join(path, Q2));
    expect(await search("quince")).toEqual({ matches: [] });
  });

  test("skips a document that is not UTF-8, and finds the other documents", async () => {
    const { path, run } = await small();
    await run("search_documents", [Q1, Q2], { query: "apples" });
    writeFileSync(join(path, Q2), Buffer.from([0xff, 0xfe, 0x00]));
    const found = await run("search_documents", [Q1, Q2], { query: "apples" });
    expect(found).toMatchObject({ matches: [{ displayName: "First" }] });
  });

  test.runIf(process.platform !== "win32")(
    "fails while a file is unreadable, and finds the file again once the file is readable",
    async () => {
      const { path, folder } = await small();
      const found = await folder.find({ collection: "letters" });
      const resources = found.ok ? found.resources : [];
      const search = (): Promise<string[]> =>
        searchDocuments(folder, "apples", resources).then((all) =>
          all.map(({ name }) => name).sort(),
        );
      expect(await search()).toEqual([Q1, Q2]);
      for (const open of [dirname(path), path, join(path, "letters")]) chmodSync(open, 0o755);
      chmodSync(join(path, Q1), 0);
      const root = process.getuid?.() === 0;
      if (root) process.seteuid?.(65534);
      try {
        await expect(search()).rejects.toMatchObject({ code: "item_unreadable" });
      } finally {
        if (root) process.seteuid?.(0);
      }
      chmodSync(join(path, Q1), 0o600);
      expect(await search()).toEqual([Q1, Q2]);
    },
  );
});

describe("a writing skill", () => {
  test("create_document makes a new document each time, and records the user as createdBy", async () => {
    const { path, folder, run } = await small();
    const resourceHandle = handleOf("letters/");
    const values = {
      resourceHandle,
      title: 'Größe: "1"',
      text: "---\nconfidential: false\n---\nHi",
      fields: { confidential: true, createdBy: "mallory", title: "x", pages: 1e21, no: "2025" },
    };
    const fields = {
      confidential: true,
      createdBy: "alice",
      title: 'Größe: "1"',
      pages: 1e21,
      no: "2025",
    };
    const answer = { displayName: 'Größe: "1"', collection: "letters", fields };
    expect(await run("create_document", ["letters/"], values)).toEqual(answer);
    expect(await run("create_document", ["letters/"], values)).toEqual(answer);
    const made = readdirSync(join(path, "letters")).filter((name) => name.startsWith("gro"));
    expect(made.sort()).toEqual([expect.stringMatching(/^gro-e-1-[\da-f]{12}\.md$/), "gro-e-1.md"]);
    expect((await folder.get("letters/gro-e-1.md"))?.fields).toEqual(fields);
    const name = "letters/gro-e-1.md";
    const read = await run("retrieve_document", [name], { resourceHandle: handleOf(name) });
    expect(read).toMatchObject({ text: "---\nconfidential: false\n---\nHi\n" });
    const search = await run("search_documents", [name], { query: "hi" });
    expect(search).toMatchObject({ matches: [{ displayName: 'Größe: "1"' }] });
  });

  test("create_document and update_document reject a text over maxTextBytes with a SkillInputError", async () => {
    const { path, run } = await newAgent(smallLibrary, { maxTextBytes: 1000 });
    const create = { resourceHandle: handleOf("letters/"), title: "Long", text: "x".repeat(1000) };
    const update = { resourceHandle: handleOf(Q1), text: "x".repeat(1000) };
    for (const [skill, name, values] of [
      ["create_document", "letters/", create],
      ["update_document", Q1, update],
    ] as const) {
      await expect(run(skill, [name], values)).rejects.toMatchObject({
        name: "SkillInputError",
        message: expect.stringContaining("larger than"),
      });
    }
    expect(readdirSync(join(path, "letters")).sort()).toEqual(["q1.md", "q2.md"]);
    // A fault of the folder itself is not reported as the client's mistake.
    rmSync(join(path, Q1));
    await expect(run("update_document", [Q1], { ...update, text: "x" })).rejects.toThrow();
    const failure = run("update_document", [Q2], { ...update, text: "x" });
    await expect(failure).rejects.not.toMatchObject({ name: "SkillInputError" });
  });

  test("create_document turns any title into a file name inside the collection", async () => {
    const { path, run } = await small();
    const resourceHandle = handleOf("letters/");
    for (const title of ["../../x", "...", "C:\\x", "日本", "a".repeat(200)]) {
      await run("create_document", ["letters/"], { resourceHandle, title, text: "" });
    }
    expect(readdirSync(join(path, "letters")).sort()).toEqual([
      `${"a".repeat(60)}.md`,
      "c-x.md",
      expect.stringMatching(/^document-[\da-f]{12}\.md$/),
      "document.md",
      "q1.md",
      "q2.md",
      "x.md",
    ]);
  });

  test("update_document replaces the text and keeps the front matter", async () => {
    const { folder, run } = await small();
    const text = "---\nconfidential: false\n---\nNew.";
    await run("update_document", [Q1], { resourceHandle: handleOf(Q1), text });
    expect(await folder.readText(Q1)).toBe(
      `---\n# kept\ntitle: First\nauthor: Quintus\nconfidential: true\n---\n\n${text}\n`,
    );
    await run("update_document", [Q2], { resourceHandle: handleOf(Q2), text });
    expect((await folder.get(Q2))?.fields).toEqual({});
    const read = await run("retrieve_document", [Q2], { resourceHandle: handleOf(Q2) });
    expect(read).toMatchObject({ text: `${text}\n` });
  });

  test("delete_document removes only the document of the given handle", async () => {
    const { path, run } = await small();
    await run("delete_document", [Q1], { resourceHandle: handleOf(Q1) });
    expect(readdirSync(join(path, "letters"))).toEqual(["q2.md"]);
  });
});
