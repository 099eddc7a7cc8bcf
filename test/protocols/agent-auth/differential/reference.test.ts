import { afterAll, beforeAll, expect, test } from "vitest";
import { Stage } from "./flows/flow.js";
import { FLOWS } from "./flows/index.js";
import { recorded } from "./observation.js";
import { startReference } from "./reference-server.js";
import type { AgentAuthServer } from "./server.js";

// What the reference implementation answers is on record, so that its next version shows what it changes.
// `npx vitest run -u test/protocols/agent-auth/reference.test.ts` writes the record anew.

let reference: AgentAuthServer;

beforeAll(async () => {
  reference = await startReference();
});

afterAll(() => reference.close());

test("the reference answers the flows as on record", async () => {
  const stage = new Stage(reference);
  for (const flow of FLOWS) await stage.run(flow);
  const record = stage.seen.map(recorded).join("\n");
  await expect(`${record}\n`).toMatchFileSnapshot("reference-answers.txt");
});
