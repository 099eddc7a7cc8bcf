// Measures the time from the start to the end of the command, in turns with `node -e 0`.
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { inTurns, median, rounded, timed } from "../measure.mjs";
import { fresh } from "../workload.mjs";

/** @import { Figures } from "../measure.mjs" */

const MAIN = fileURLToPath(new URL("../../cli/dist/main.cjs", import.meta.url));
const BASE = "node -e 0";

/** Returns the output of a run, piped as in a script. @param {readonly string[]} args @param {string} home */
function ran(args, home) {
  const { status, stdout, stderr } = spawnSync(process.execPath, args, {
    encoding: "utf8",
    stdio: ["ignore", "pipe", "pipe"],
    env: { ...process.env, PROVISO_HOME: home },
  });
  if (status !== 0) throw new Error(`exit code ${status}: ${args.join(" ")}: ${stderr}`);
  return stdout.trim();
}

/** @param {{ quick: boolean }} size @returns {Promise<Figures[]>} */
export async function run({ quick }) {
  const folder = mkdtempSync(join(tmpdir(), "proviso-bench-"));
  try {
    const home = join(folder, "home");
    ran([MAIN, "init", "--grant", "documents:read=retrieve,search"], home);
    const own = ran([MAIN, "mint", "--grant", "documents:read", "--expires", "2h"], home);
    const token = fresh(3);
    /** @type {[string, string[]][]} */
    const commands = [
      [BASE, ["-e", "0"]],
      ["proviso attenuate", [MAIN, "attenuate", token, "--op", "retrieve"]],
      ["proviso inspect", [MAIN, "inspect", token]],
      ["proviso verify", [MAIN, "verify", own, "--op", "retrieve"]],
    ];
    const contenders = commands.map(([name, args]) =>
      timed(name, async () => {
        const began = performance.now();
        ran(args, home);
        return performance.now() - began;
      }),
    );
    const rounds = await inTurns(contenders, { rounds: quick ? 5 : 40, milliseconds: 0 });
    const base = rounds[BASE] ?? [];
    const above = (/** @type {string} */ name) =>
      rounded(median((rounds[name] ?? []).map((taken, at) => (taken - (base[at] ?? 0)) / 1e6)));
    const verbs = commands.slice(1).map(([name]) => name);
    return [
      {
        title: "Starting the command",
        about: "Milliseconds from start to end of a process whose output is piped.",
        columns: ["", "ms", `above ${BASE}`],
        rows: commands.map(([name]) => [
          name,
          rounded(median(rounds[name] ?? []) / 1e6),
          name === BASE ? null : above(name),
        ]),
        ratios: {},
        values: Object.fromEntries(verbs.map((name) => [`${name}: ms above ${BASE}`, above(name)])),
      },
    ];
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
