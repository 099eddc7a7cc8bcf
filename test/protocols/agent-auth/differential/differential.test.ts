import { existsSync } from "node:fs";
import { afterAll, beforeAll, expect, test } from "vitest";
import { Stage } from "./flows/flow.js";
import { FLOWS } from "./flows/index.js";
import { type Difference, differencesOf, recorded } from "./observation.js";
import { startOurs } from "./our-server.js";
import { startReference } from "./reference-server.js";
import { differencesPage } from "./table/page.js";
import { explained } from "./table/row.js";
import { SECTIONS } from "./table/sections.js";

// Sends the same requests to the reference implementation and to our server, and compares the answers. With `--update`,
// vitest rewrites the record of the reference's answers and docs/agent-auth-differences.md.

let reference: Stage;
let ours: Stage;
const differences: Difference[] = [];

beforeAll(async () => {
  [reference, ours] = [new Stage(await startReference()), new Stage(await startOurs())];
  for (const flow of FLOWS) await Promise.all([reference.run(flow), ours.run(flow)]);
});

afterAll(() => Promise.all([reference.server.close(), ours.server.close()]));

test("the reference implementation gives the recorded answers to all flows", async () => {
  const record = reference.seen.map(recorded).join("\n");
  await expect(`${record}\n`).toMatchFileSnapshot("reference-answers.txt");
});

test("both implementations reach every step of the flows", () => {
  expect(stepsOf(ours)).toEqual(stepsOf(reference));
  expect(new Set(stepsOf(ours)).size).toBe(ours.seen.length);
  for (const [at, theirs] of reference.seen.entries()) {
    const our = ours.seen[at];
    if (our !== undefined) differences.push(...differencesOf(theirs, our));
  }
});

test("each difference in the flows has a row in the table of differences, and each row about the flows matches a difference in the flows", () => {
  const { unexplained, unobserved } = explained(SECTIONS, differences);
  expect({ unexplained, unobserved }).toEqual({ unexplained: [], unobserved: [] });
});

test("each row of the table of differences that no flow covers names an existing test file", () => {
  for (const { what, shown } of SECTIONS.flatMap(({ rows }) => rows)) {
    if (shown === undefined) continue;
    expect(existsSync(new URL(`../${shown}`, import.meta.url)), what).toBe(true);
  }
});

test("docs/agent-auth-differences.md has the generated table of differences", async () => {
  const page = "../../../../docs/agent-auth-differences.md";
  await expect(differencesPage(SECTIONS)).toMatchFileSnapshot(page);
});

function stepsOf(stage: Stage): string[] {
  return stage.seen.map(({ step }) => step);
}
