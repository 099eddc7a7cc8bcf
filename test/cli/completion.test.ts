import { spawnSync } from "node:child_process";
import { mkdirSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { beforeAll, describe, expect, test } from "vitest";
import { FULL } from "../support/size.js";
import { Bench } from "./run.js";
import { Shell } from "./shell.js";

const bench = new Bench();
const calling = new Shell(bench);
const SHELLS = ["bash", "zsh", "fish"] as const;
const VERBS = [
  "attenuate",
  "completion",
  "convert",
  "diff",
  "init",
  "inspect",
  "keys",
  "mint",
  "revocations",
  "revoke",
  "vectors",
  "verify",
];

beforeAll(async () => {
  await Promise.all(
    SHELLS.map(async (shell) => bench.write(shell, await bench.output("completion", shell))),
  );
  bench.write("token", "");
  mkdirSync(bench.path("reports"));
});

for (const shell of SHELLS) {
  const installed = spawnSync(shell, ["-c", "true"]).status === 0;
  if (!installed) {
    process.stderr.write(
      `cli: ${shell} is not installed, its completion is not tested; ` +
        `get it with \`apt-get install ${shell}\` or run scripts/install-peers.sh\n`,
    );
  }

  describe.runIf(installed)(`completion in ${shell}`, () => {
    const driver = fileURLToPath(new URL(`./shells/complete.${shell}`, import.meta.url));
    const flags = { bash: ["--norc"], zsh: ["-f"], fish: ["--no-config"] }[shell];

    /** Returns, for each line, the completions that the shell offers. */
    async function offers(...lines: readonly string[]): Promise<string[][]> {
      const args = [...flags, driver, bench.path(shell), ...lines];
      const env = { HOME: bench.folder, TERM: "dumb" };
      const { status, stdout, stderr } = await calling.run(shell, args, { env });
      expect(`${status} ${stderr}`).toBe("0 ");
      const rows = stdout.replace(/\n$/, "").split("\n");
      expect(rows).toHaveLength(lines.length);
      return rows.map((row) => row.split(" ").filter((word) => word !== ""));
    }

    test("offers verbs, subcommands, options and fixed values", async () => {
      const [verbs, m, keys, options, forms, z, after, none] = await offers(
        "proviso ",
        "proviso m",
        "proviso keys ",
        "proviso attenuate --",
        "proviso convert --to ",
        "proviso completion z",
        "proviso --home keys revocations p",
        "proviso mint --grant ",
      );
      expect(verbs).toEqual(expect.arrayContaining(VERBS));
      expect(m?.sort()).toEqual(["mcp", "mint"]);
      expect(keys?.sort()).toEqual(["export", "import", "list", "retire", "rotate", "service"]);
      expect(options).toEqual(
        expect.arrayContaining(["--op", "--arg", "--intersect", "--no-nonce", "--json", "--home"]),
      );
      expect(forms?.sort()).toEqual(["v1", "v1json", "v2", "v2json"]);
      expect(z).toEqual(["zsh"]);
      expect(after).toEqual(["prune"]);
      expect(none).toEqual([]);
    });

    if (FULL) {
      test("offers --grant for mint, verify and init, and --any-op for mint only", async () => {
        const [mint, verify, init] = await offers(
          "proviso mint --",
          "proviso verify --",
          "proviso init --",
        );
        expect(mint).toEqual(expect.arrayContaining(["--grant", "--any-op", "--op", "--purpose"]));
        expect(verify).toEqual(expect.arrayContaining(["--grant", "--op"]));
        expect(verify).not.toContain("--any-op");
        expect(init).toEqual(expect.arrayContaining(["--grant", "--issuer"]));
      });
    }

    if (FULL) {
      test("offers values after =, folders for --home, and short options", async () => {
        const [assigned, empty, folder, inside, short, second] = await offers(
          "proviso convert --to=v1",
          "proviso convert --to=",
          "proviso --home rep",
          "proviso inspect --home=rep",
          "proviso mint -",
          "proviso completion bash ",
        );
        const bare = assigned?.map((word) => word.replace("--to=", ""));
        expect(bare?.sort()).toEqual(["v1", "v1json"]);
        expect(empty).toHaveLength(4);
        for (const folders of [folder, inside]) {
          expect(folders?.map((name) => name.replace(/^--home=|\/$/g, ""))).toEqual(["reports"]);
        }
        expect(short).toEqual(expect.arrayContaining(["-h"]));
        expect(second).toEqual([]);
      });
    }

    if (FULL) {
      test("offers file names after @", async () => {
        const [files] = await offers("proviso inspect @to");
        expect(files?.map((name) => name.replace("@", ""))).toEqual(["token"]);
      });
    }
  });
}

test("completion for an unknown shell is refused", async () => {
  const { status, stderr } = await bench.run(["completion", "tcsh"]);
  expect(status).toBe(2);
  expect(stderr).toContain("Allowed choices are bash, zsh, fish");
});
