// Time from start to end of the command, beside `node -e 0`, in turns.
import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { inTurns, median, rounded } from "../measure.mjs";
import { fresh } from "../workload.mjs";

/** @import { Figures } from "../measure.mjs" */

const MAIN = fileURLToPath(new URL("../../dist/cli/main.js", import.meta.url));

/** @param {{ quick: boolean }} size @returns {Promise<Figures[]>} */
export async function run({ quick }) {
  const token = fresh(3);
  /** @type {[string, string[]][]} */
  const commands = [
    ["node -e 0", ["-e", "0"]],
    ["proviso attenuate", [MAIN, "attenuate", token, "--op", "retrieve"]],
    ["proviso inspect", [MAIN, "inspect", token]],
  ];
  const contenders = commands.map(([name, args]) => ({
    name,
    async sample() {
      const began = performance.now();
      const { status } = spawnSync(process.execPath, args, { stdio: "ignore" });
      if (status !== 0) throw new Error(`exit code ${status}: ${name}`);
      return (performance.now() - began) * 1e6;
    },
  }));
  const rounds = await inTurns(contenders, { rounds: quick ? 5 : 20, milliseconds: 0 });
  const base = rounds["node -e 0"] ?? [];
  return [
    {
      title: "Starting the command",
      about: "Milliseconds from start to end of a process.",
      columns: ["", "ms", "above node -e 0"],
      rows: commands.map(([name]) => {
        const taken = rounds[name] ?? [];
        const above = taken.map((value, at) => value - (base[at] ?? 0));
        return [
          name,
          rounded(median(taken) / 1e6),
          name === "node -e 0" ? null : rounded(median(above) / 1e6),
        ];
      }),
      ratios: {},
    },
  ];
}
