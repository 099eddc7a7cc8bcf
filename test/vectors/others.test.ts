import { describe, expect, test } from "vitest";
import { judge } from "../../cli/vectors/answer.js";
import { Program } from "../../cli/vectors/program.js";
import { type Compared, differencesPage } from "../../spec-vectors/peers/differences.js";
import { differencesOf, PEERS } from "../../spec-vectors/peers/peers.js";
import { FULL } from "../support/size.js";
import { committed, FOLDER, PYTHON, path, pythonHas, VECTORS } from "./support.js";

describe.skipIf(!pythonHas("nacl", "python3-nacl"))("the checker in Python", () => {
  test("passes every vector", async () => {
    const program = new Program([PYTHON, path("python/adapter.py")], { timeout: 10_000 });
    const failed: unknown[] = [];
    try {
      for (const vector of VECTORS) {
        const outcome = judge(vector, await program.ask(vector.request));
        const { tcId, comment } = vector.test;
        if (outcome.status !== "passed") failed.push({ tcId, comment, outcome });
      }
    } finally {
      await program.close();
    }
    expect(failed).toEqual([]);
  });
});

// `test/interop` tests the libraries themselves, in quick and in full runs.
if (FULL)
  describe("other macaroon libraries", () => {
    const missing = PEERS.filter((peer) => peer.version() === undefined);
    for (const { name, install } of missing) {
      process.stderr.write(`vectors: ${name} is not installed, get it with \`${install}\`\n`);
    }

    test.skipIf(missing.length > 0)(
      "differ from the vectors exactly as spec-vectors/peers/DIFFERENCES.md explains",
      async () => {
        const compared: Compared[] = [];
        for (const peer of PEERS) {
          const version = peer.version() ?? "";
          compared.push({ peer, version, differences: await differencesOf(peer, FOLDER) });
        }
        expect(differencesPage(compared, FOLDER)).toBe(committed("peers/DIFFERENCES.md"));
      },
    );
  });
