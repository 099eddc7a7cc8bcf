import { spawnSync } from "node:child_process";
import { chmodSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { document, type Run, runProgram } from "../cli/run.js";
import { RunningProgram } from "../cli/running.js";
import { MAIN } from "../support/built.js";
import { postgresIsMissing, postgresPlace } from "../support/databases.js";
import { temporaryFolder } from "../support/temporary-folder.js";

// The procedures of docs/guides/operations.md work as written in an empty folder. The umask makes new files
// readable for every user.

const PAGE = readFileSync(new URL("../../docs/guides/operations.md", import.meta.url), "utf8");

/** Returns the shell blocks below a heading of the page. */
function blocks(heading: string): readonly string[] {
  const [, section = ""] =
    new RegExp(`^## ${heading}\n([\\s\\S]*?)(?=^## |$(?![\\s\\S]))`, "m").exec(PAGE) ?? [];
  return [...section.matchAll(/^```sh\n([\s\S]*?)^```$/gm)].map(([, code = ""]) => code);
}

/** Makes an empty folder, with a shell that can call the command. */
function machine(): { readonly folder: string; readonly run: (code: string) => Promise<Run> } {
  const root = temporaryFolder();
  const [bin, folder] = [join(root, "bin"), join(root, "work")];
  for (const one of [bin, folder]) mkdirSync(one);
  writeFileSync(join(bin, "proviso"), `#!/bin/sh\nexec "${process.execPath}" "${MAIN}" "$@"\n`);
  chmodSync(join(bin, "proviso"), 0o755);
  const PATH = `${bin}:${process.env["PATH"]}`;
  return {
    folder,
    run: (code) =>
      runProgram("sh", ["-eu", "-c", `umask 022\n${code}`], { cwd: folder, env: { PATH } }),
  };
}

const sqlite = spawnSync("sqlite3", ["--version"]).status === 0;
if (!sqlite) console.warn("sqlite3 is missing: backup and restore are skipped (apt-get install)");

test.skipIf(!sqlite)(
  "the commands of docs/guides/operations.md back up a home, restore it privately, and refuse a copy that other users may open",
  async () => {
    const { folder, run } = machine();
    const [backUp = "", ...others] = blocks("Back up");
    const [restore = "", ...more] = blocks("Restore");
    expect([others, more]).toEqual([[], []]);
    const made = await run(
      "proviso --home home init --issuer documents-agent\n" +
        "proviso --home home revoke --capability cap_0123456789abcdef",
    );
    expect(made.status, made.stderr).toBe(0);
    const backed = await run(backUp);
    expect(backed.status, backed.stderr).toBe(0);
    const restored = await run(restore);
    expect(restored.status, restored.stderr).toBe(0);
    expect(restored.stdout).toMatch(/^key_.* mints /m);
    expect(restored.stdout).toContain("cap_0123456789abcdef");
    for (const name of ["config.json", "keyring.json", "proviso.db"]) {
      expect(statSync(join(folder, "restored", name)).mode & 0o777, name).toBe(0o600);
    }
    chmodSync(join(folder, "restored", "proviso.db"), 0o644);
    const check = restore.trimEnd().split("\n").slice(-2).join("\n");
    const exposed = await run(check);
    expect(exposed.status).toBe(6);
    expect(exposed.stderr).toContain("other users may open the database");
  },
);

test.skipIf(postgresIsMissing)(
  "the commands of docs/guides/operations.md set up a second machine with the issuer of the first machine",
  async () => {
    const place = await postgresPlace();
    const [first, second] = [machine(), machine()];
    const named = (code: string): string =>
      code.replaceAll("postgres://agent@db.internal/proviso", place);
    const [onFirst = "", onSecond = "", onEach = "", ...others] = blocks("A second machine");
    expect(others).toEqual([]);
    const made = await first.run(named(onFirst));
    expect(made.status, made.stderr).toBe(0);
    expect(readdirSync(join(first.folder, "my-agent", "home")).sort()).toEqual([
      "config.json",
      "keyring.json",
    ]);
    const archive = "my-agent.tgz";
    writeFileSync(join(second.folder, archive), readFileSync(join(first.folder, archive)));
    const copied = await second.run(named(onSecond));
    expect(copied.status, copied.stderr).toBe(0);
    expect(copied.stdout).toContain("Nothing is revoked.");

    const serve = async ({ folder }: { readonly folder: string }): Promise<string> => {
      const words = onEach.trim().split(" ").slice(1);
      const env = { PROVISO_DATABASE: place };
      const running = new RunningProgram([MAIN, ...words, "--port", "0", "--json"], env, folder);
      return document(await running.says(/^\{.*\}\n/))["url"];
    };
    const [one, two] = [await serve(first), await serve(second)];
    const access = "--access-token @my-agent/tokens.json";
    const asked = await first.run(
      `proviso request ${one} --grant numbers:use ${access} -o capability`,
    );
    expect(asked.status, asked.stderr).toBe(0);
    const token = readFileSync(join(first.folder, "capability"));
    writeFileSync(join(second.folder, "capability"), token, { mode: 0o600 });
    const add = (url: string) =>
      `proviso invoke ${url} add @capability --arg a=2 --arg b=3 ${access}`;
    expect((await second.run(add(two))).stdout).toMatch(/sum\W+5/);
    const database = `export PROVISO_DATABASE=${place}`;
    const revoked = await second.run(
      `${database}\nproviso --home my-agent/home revoke @capability`,
    );
    expect(revoked.status, revoked.stderr).toBe(0);
    await expect
      .poll(async () => (await first.run(add(one))).stderr, { timeout: 20_000 })
      .toContain("revoked");
  },
);
