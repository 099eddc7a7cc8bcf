import { expect, test } from "vitest";
import { Random } from "../../../fuzz/random.js";
import { sized } from "../../../support/size.js";
import { compareGenerated } from "./generated/compare.js";
import { startOurs } from "./our-server.js";
import { startReference } from "./reference-server.js";
import { explained } from "./table/row.js";
import { SECTIONS } from "./table/sections.js";

const SEED = 12;
const REQUESTS = sized(800, 800, 2_000);

test(`${REQUESTS} generated requests show only differences that are in the table of differences`, {
  timeout: 300_000,
}, async () => {
  const [reference, ours] = await Promise.all([startReference(), startOurs()]);
  try {
    const differences = await compareGenerated(new Random(SEED), REQUESTS, reference, ours);
    expect(explained(SECTIONS, differences).unexplained).toEqual([]);
  } finally {
    await Promise.all([reference.close(), ours.close()]);
  }
});
