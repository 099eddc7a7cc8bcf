import { afterAll, beforeAll, expect, test } from "vitest";
import { Random } from "../../../fuzz/random.js";
import { sized } from "../../../support/size.js";
import { Stage } from "./flows/flow.js";
import { FLOWS } from "./flows/index.js";
import { compareGenerated } from "./generated/compare.js";
import { recorded } from "./observation.js";
import { startReference } from "./reference-server.js";
import type { AgentAuthServer } from "./server.js";

// What the reference implementation answers is on record, so that its next version shows what it changes.
// With `--update`, vitest writes the record anew.

let reference: AgentAuthServer;
let another: AgentAuthServer;

beforeAll(async () => {
  [reference, another] = await Promise.all([startReference(), startReference()]);
});

afterAll(() => Promise.all([reference.close(), another.close()]));

test("the reference answers the flows as on record", async () => {
  const stage = new Stage(reference);
  for (const flow of FLOWS) await stage.run(flow);
  const record = stage.seen.map(recorded).join("\n");
  await expect(`${record}\n`).toMatchFileSnapshot("reference-answers.txt");
});

test("two servers of the reference do not differ", { timeout: 300_000 }, async () => {
  const differences = await compareGenerated(new Random(12), sized(2_000, 100), reference, another);
  expect(differences).toEqual([]);
});
