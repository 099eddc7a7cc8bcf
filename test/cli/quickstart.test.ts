import { readdirSync } from "node:fs";
import { expect, test } from "vitest";
import { FULL } from "../support/size.js";
import { Bench, document } from "./run.js";

test("quickstart runs 12 steps as expected, and leaves no file behind", async () => {
  const bench = new Bench();
  const { status, stdout, stderr } = await bench.spawned(["quickstart", "--json"], {
    // The quickstart changes neither the user's home nor another database.
    env: { TMPDIR: bench.folder, PROVISO_DATABASE: "postgres://127.0.0.1:1/none" },
  });
  expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
  const { asExpected, steps } = document(stdout);
  expect(asExpected).toBe(true);
  expect(steps).toHaveLength(12);
  expect(steps.map(({ happened }: { readonly happened: string }) => happened)).toContain(
    "refused: revoked",
  );
  expect(readdirSync(bench.folder)).toEqual([]);
});

if (FULL) {
  test("quickstart without --json prints its steps in words, in colour with FORCE_COLOR", async () => {
    const bench = new Bench();
    const { status, stdout } = await bench.run(["quickstart"], {
      env: { TMPDIR: bench.folder, FORCE_COLOR: "1" },
    });
    expect(status).toBe(0);
    expect(stdout).toContain("\n\u001b[1m1. The documents agent starts\u001b[0m\n");
    expect(stdout).toMatch(/\nEverything happened as expected\.\n$/);
  });
}
