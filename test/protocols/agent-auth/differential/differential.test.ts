import { afterAll, beforeAll, expect, test } from "vitest";
import { Random } from "../../../fuzz/random.js";
import { sized } from "../../../support/size.js";
import { compareGenerated } from "./generated/compare.js";
import { startReference } from "./reference-server.js";
import type { AgentAuthServer } from "./server.js";

let reference: AgentAuthServer;
let another: AgentAuthServer;

beforeAll(async () => {
  [reference, another] = await Promise.all([startReference(), startReference()]);
});

afterAll(() => Promise.all([reference.close(), another.close()]));

test("two servers of the reference do not differ", async () => {
  const differences = await compareGenerated(new Random(12), sized(2_000), reference, another);
  expect(differences).toEqual([]);
});
