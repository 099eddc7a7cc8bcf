import { expect, test } from "vitest";
import { Bench, type Document } from "./run.js";
import { CONFIG, NOTES, serve, TOKENS, writeAgent } from "./serving.js";

// The parts of a configuration of `proviso serve` that appear in the agent's card and on its page.

const BROWSER = { headers: { Accept: "text/html" } };

async function served(more: Document) {
  const bench = new Bench();
  await bench.output("init", "--issuer", "notes-agent", "--home", bench.home);
  writeAgent(bench);
  return { bench, ...(await serve(bench, { ...CONFIG, ...more })) };
}

test("the card of a served agent lists exactly the collections that the configuration lists", async () => {
  const listed = await served({ collections: [{ name: "notes", fields: ["title", "year"] }] });
  const text = await listed.bench.output("card", listed.url);
  expect(text).toContain("\ncollections\n  notes\n    fields  title, year\n");
  const silent = await served({});
  expect(await silent.bench.output("card", silent.url)).not.toContain("collections");
});

test("the refusal of a request without a collection names only collections in the caller's policy", async () => {
  const { rpc } = await served({});
  const bare = { grants: NOTES["grants"], purpose: "a test" };
  const problem = async (who: string): Promise<string> =>
    (await rpc("a2a/capabilities/request", bare, who)).text;
  expect(await problem(TOKENS.alice)).toMatch(/"known\\?":\[\\?"notes\\?"\]/);
  expect(await problem(TOKENS.bob)).not.toMatch(/"notes\\?"/);
});

test("a browser gets the agent's page, unless the configuration has page: false", async () => {
  const shown = await served({});
  expect((await fetch(`${shown.url}/`, BROWSER)).status).toBe(200);
  const hidden = await served({ page: false });
  expect((await fetch(`${hidden.url}/`, BROWSER)).status).toBe(404);
});
