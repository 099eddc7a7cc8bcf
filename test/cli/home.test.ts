import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { MAIN } from "../support/built.js";
import { FULL } from "../support/size.js";
import { temporaryFolder } from "../support/temporary-folder.js";
import { Bench, document, NOBODY, type Run, runHere, runProgram } from "./run.js";

const FILES = ["config.json", "keyring.json", "proviso.db"];
const VERBS = [
  ["mint", "--grant", "g", "--op", "x"],
  ["verify", "AgIB", "--grant", "g", "--op", "x"],
  ["revoke", "--principal", "user_7"],
  ["keys", "list"],
  ["keys", "rotate"],
  ["revocations", "list"],
];

/** Each run is killed after one of these numbers of seconds. */
const MOMENTS = FULL ? ["0.05", "0.1", "0.13", "0.16", "0.2", "0.25"] : ["0.1", "0.16", "0.25"];

/** Runs every verb that needs a home, and expects each to fail because of the home. */
async function everyVerb(bench: Bench): Promise<Run[]> {
  const runs = await Promise.all(VERBS.map((args) => bench.run(args)));
  for (const { status, stdout } of runs)
    expect({ status, stdout }).toEqual({ status: 6, stdout: "" });
  return runs;
}

describe("init", () => {
  test("makes a home that only its owner can read", async () => {
    const bench = new Bench();
    const made = await bench.json("init", "--issuer", "documents-agent");
    expect(made).toEqual({
      status: 0,
      home: bench.home,
      issuer: "documents-agent",
      kid: expect.stringMatching(/^key_/),
      maxLifetime: 86_400,
    });
    expect(statSync(bench.home).mode & 0o777).toBe(0o700);
    const names = readdirSync(bench.home);
    expect(names).toEqual(expect.arrayContaining(FILES));
    for (const name of names) expect(statSync(join(bench.home, name)).mode & 0o777).toBe(0o600);
    expect(readdirSync(bench.folder)).toEqual(["home"]);
  });

  test("names the issuer after the machine by default, and prints a note about the name", async () => {
    const bench = new Bench();
    const { status, stdout, stderr } = await bench.run(["init"]);
    expect(status).toBe(0);
    expect(stdout).toContain(`Made a home at ${bench.home}\n  issuer    ${hostname()}\n`);
    expect(stderr).toContain("The issuer is named after this host");
  });

  test("refuses to overwrite a home, and leaves the home unchanged", async () => {
    const bench = new Bench();
    await bench.init();
    const before = bench.read("home/keyring.json");
    const { status, stderr } = await bench.run(["init"]);
    expect(status).toBe(6);
    expect(stderr).toMatch(/there is a home at .* already, and it is not overwritten\nhint: /);
    expect(bench.read("home/keyring.json")).toBe(before);
  });

  test.each(FILES)(
    "refuses a home that lacks %s, and leaves the folder unchanged",
    async (name) => {
      const bench = new Bench();
      await bench.init();
      rmSync(join(bench.home, name));
      const left = readdirSync(bench.home);
      const { status, stderr } = await bench.run(["init"]);
      expect(status).toBe(6);
      expect(stderr).toContain(`is not whole: ${name} missing\nhint: restore it from a backup`);
      expect(readdirSync(bench.home)).toEqual(left);
    },
  );

  test("refuses a folder with other files; accepts an empty folder, and a link to an empty folder", async () => {
    const bench = new Bench();
    mkdirSync(bench.home);
    writeFileSync(join(bench.home, "letter.txt"), "");
    const used = await bench.run(["init", "--json"]);
    expect(used.status).toBe(6);
    expect(document(used.stderr)["error"]).toMatchObject({ code: "folder_in_use", exitCode: 6 });
    rmSync(join(bench.home, "letter.txt"));
    await bench.init();
    const target = join(bench.folder, "target");
    mkdirSync(target);
    symlinkSync(target, join(bench.folder, "link"));
    await bench.output("--home", "link", "init");
    expect(readdirSync(target)).toEqual(expect.arrayContaining(FILES));
  });

  if (FULL) {
    test("run four times at once makes one home, and leaves nothing else behind", async () => {
      const bench = new Bench();
      const runs = await Promise.all(Array.from({ length: 4 }, () => bench.spawned(["init"])));
      expect(runs.map(({ status }) => status).sort()).toEqual([0, 6, 6, 6]);
      expect(readdirSync(bench.folder)).toEqual(["home"]);
      expect((await bench.run(["keys", "list"])).status).toBe(0);
    });
  }

  if (FULL) {
    test("killed at any moment leaves a whole home or none", async () => {
      const bench = new Bench();
      const script = `node ${MAIN} init & sleep $1; kill -9 $!; wait`;
      for (const seconds of MOMENTS) {
        await runProgram("sh", ["-c", script, "sh", seconds], {
          env: { PROVISO_HOME: bench.home },
        });
        if (!existsSync(bench.home)) continue;
        expect(readdirSync(bench.home)).toEqual(expect.arrayContaining(FILES));
        rmSync(bench.home, { recursive: true });
      }
      await bench.init();
    });
  }

  test("fails with an explanation if the folder cannot be written", async () => {
    const bench = new Bench();
    chmodSync(bench.folder, 0o555);
    const { status, stderr } = await bench.spawned(["init"], { unprivileged: true });
    chmodSync(bench.folder, 0o700);
    expect(status).toBe(6);
    expect(stderr).toContain("could not make a home");
  });

  test("like audit, keys rotate and revoke, names the folder if no file can be made beside the database", async () => {
    const bench = new Bench();
    await bench.init();
    chmodSync(bench.folder, 0o777);
    for (const name of readdirSync(bench.home)) {
      const file = join(bench.home, name);
      if (/-(wal|shm)$/.test(name)) rmSync(file);
      else if (process.getuid?.() === 0) chownSync(file, NOBODY, NOBODY);
    }
    chmodSync(bench.home, 0o555);
    const runs = await Promise.all(
      ["audit", ...(FULL ? ["keys rotate", "revoke --capability cap_0123456789abcdef"] : [])].map(
        (line) => bench.spawned(line.split(" "), { unprivileged: true }),
      ),
    );
    const spare = ["init", "--home", "other", "--database", join(bench.home, "new.db")];
    runs.push(await bench.spawned(spare, { unprivileged: true }));
    chmodSync(bench.home, 0o700);
    for (const { status, stderr } of runs) {
      expect(status).toBe(6);
      expect(stderr).toContain(
        `proviso: ${bench.home}: files beside the database cannot be made in this folder`,
      );
      expect(stderr).toContain(`hint: let this user write to the folder ${bench.home}\n`);
    }
  });

  test("is not suggested by mint if the user may not read the home", async () => {
    const bench = new Bench();
    await bench.init();
    chmodSync(bench.folder, 0o755);
    if (process.getuid?.() !== 0) chmodSync(bench.home, 0o000);
    const { status, stderr } = await bench.spawned(["mint", "--grant", "g", "--op", "x"], {
      unprivileged: true,
    });
    chmodSync(bench.home, 0o700);
    expect(status).toBe(6);
    expect(stderr).toContain(`${bench.home} may not be read by this user`);
    expect(stderr).not.toContain("init");
  });

  test("like keys list, fails with a hint if the user may not read the home or a file in the home", async () => {
    const bench = new Bench();
    await bench.init();
    chmodSync(bench.folder, 0o755);
    const messages = async (): Promise<string> => {
      const runs = await Promise.all(
        ["init", "keys list"].map((line) => bench.spawned(line.split(" "), { unprivileged: true })),
      );
      for (const { status } of runs) expect(status).toBe(6);
      return runs.map(({ stderr }) => stderr).join("");
    };
    chmodSync(bench.home, 0o744);
    if (process.getuid?.() !== 0) chmodSync(bench.home, 0o400);
    expect(await messages()).toMatch(/(.* may not be read by this user\nhint: run this as.*\n){2}/);
    chmodSync(bench.home, 0o755);
    chmodSync(join(bench.home, "config.json"), process.getuid?.() === 0 ? 0o600 : 0);
    expect(await messages()).toMatch(/config\.json may not be read by this user\nhint: run this/);
    chmodSync(bench.home, 0o700);
  });

  test("like keys list, refuses a home that is a file", async () => {
    const bench = new Bench();
    bench.write("file", "");
    for (const verb of ["init", "keys list"]) {
      const { status, stderr } = await bench.run([...verb.split(" "), "--home", "file"]);
      expect(status).toBe(6);
      expect(stderr).toBe(
        `proviso: ${bench.path("file")} is a file, not a folder\n` +
          "hint: name a folder with --home or PROVISO_HOME\n",
      );
    }
  });

  test("refuses a home below a file", async () => {
    const bench = new Bench();
    bench.write("file", "");
    const { status, stderr } = await bench.run(["init", "--home", "file/home"]);
    expect(status).toBe(6);
    expect(stderr).toMatch(/^proviso: could not .*\nhint: .*name another folder with --home/);
  });
});

describe("the place of the home", () => {
  test("is the value of --home, before or after the verb, or else of PROVISO_HOME", async () => {
    const bench = new Bench();
    await bench.output("init", "--home", "a", "--issuer", "a");
    await bench.output("--home", "b", "init", "--issuer", "b");
    expect(readdirSync(bench.folder).sort()).toEqual(["a", "b"]);
    const { status, stderr } = await bench.run(["keys", "list"]);
    expect(status).toBe(6);
    expect(stderr).toBe(
      `proviso: there is no home at ${bench.home}\n` +
        "hint: proviso init makes one; --home or PROVISO_HOME names another\n",
    );
    expect((await bench.run(["keys", "list", "--home", ""])).status).toBe(2);
  });

  test.runIf(process.platform === "linux")("is the platform's data folder by default", async () => {
    const folder = temporaryFolder();
    const init = (env: Record<string, string>): Promise<Run> =>
      runHere(["init", "--json"], { env });
    const [home, data, relative] = await Promise.all([
      init({ HOME: join(folder, "user") }),
      init({ HOME: join(folder, "user"), XDG_DATA_HOME: join(folder, "data") }),
      init({ HOME: join(folder, "other"), XDG_DATA_HOME: "data", PROVISO_HOME: "" }),
    ]);
    expect([home, data, relative].map(({ stdout }) => document(stdout)["home"])).toEqual([
      join(folder, "user/.local/share/proviso"),
      join(folder, "data/proviso"),
      join(folder, "other/.local/share/proviso"),
    ]);
  });
});

test("every verb refuses a home of an unreleased version of proviso, and names its database file", async () => {
  const bench = new Bench();
  await bench.init();
  renameSync(join(bench.home, "proviso.db"), join(bench.home, "store.db"));
  for (const { stderr } of [...(await everyVerb(bench)), await bench.run(["init"])]) {
    expect(stderr).toBe(
      `proviso: ${join(bench.home, "store.db")}: an unreleased version of proviso made this database` +
        "\nhint: move the home's folder away and run proviso init\n",
    );
  }
});

describe("a home that cannot be used makes every verb exit with 6", () => {
  test.each<[string, (home: string) => void, RegExp]>([
    [
      "because there is no home",
      (home) => rmSync(home, { recursive: true }),
      /there is no home .*\nhint: proviso init/,
    ],
    [
      "because the home lacks its database",
      (home) => rmSync(join(home, "proviso.db")),
      /is not whole: proviso.db missing/,
    ],
    [
      "because config.json is not JSON",
      (home) => writeFileSync(join(home, "config.json"), "{"),
      /is not JSON/,
    ],
    [
      "because config.json has unknown properties",
      (home) => writeFileSync(join(home, "config.json"), '{"issuer":"a","isuer":"b"}'),
      /isuer: unknown property; did you mean "issuer"\?/,
    ],
    [
      "because config.json has a property twice",
      (home) => writeFileSync(join(home, "config.json"), '{"issuer":"a",\n "issuer":"b"}'),
      /config\.json: line 2: "issuer" is there twice; keep one of the two\n/,
    ],
    [
      "because config.json lacks the issuer's name",
      (home) => writeFileSync(join(home, "config.json"), '{"maxLifetime":60}'),
      /"issuer" must be a name/,
    ],
    [
      "because config.json has a lifetime of a year",
      (home) => writeFileSync(join(home, "config.json"), '{"issuer":"a","maxLifetime":31536000}'),
      /"maxLifetime" must be 1 to 7776000 whole seconds/,
    ],
  ])("%s", async (_what, damage, message) => {
    const bench = new Bench();
    await bench.init();
    damage(bench.home);
    for (const { stderr } of await everyVerb(bench)) expect(stderr).toMatch(message);
  });

  const needKeys = VERBS.filter(([verb]) => verb !== "revocations");
  test.each<[string, (path: string) => void, string, RegExp]>([
    ["that others may read", (path) => chmodSync(path, 0o644), "key_file_exposed", /chmod 600/],
    ["that is not JSON", (path) => writeFileSync(path, "x"), "key_file_malformed", /backup/],
    [
      "with a property twice",
      (path) => {
        const text = readFileSync(path, "utf8");
        writeFileSync(path, text.replace('"kid"', '"kid": "key_of_another", "kid"'));
      },
      "key_file_malformed",
      /backup/,
    ],
    ["without keys", (path) => writeFileSync(path, '{"keys":[]}'), "key_file_malformed", /backup/],
  ])("because of a key file %s", async (_what, damage, code, hint) => {
    const bench = new Bench();
    await bench.init();
    damage(join(bench.home, "keyring.json"));
    const runs = await Promise.all(needKeys.map((args) => bench.run([...args, "--json"])));
    for (const { status, stdout, stderr } of runs) {
      expect({ status, stdout }).toEqual({ status: 6, stdout: "" });
      expect(document(stderr)["error"]).toMatchObject({
        code,
        exitCode: 6,
        hint: expect.stringMatching(hint),
        path: join(bench.home, "keyring.json"),
      });
    }
  });

  test("because its store is damaged or locked", async () => {
    const bench = new Bench();
    await bench.init();
    const { default: Database } = await import("libsql");
    const database = new Database(join(bench.home, "proviso.db"));
    database.exec("BEGIN EXCLUSIVE");
    const locked = await Promise.all([
      bench.run(["revoke", "--principal", "user_7", "--json"]),
      bench.run(["keys", "rotate", "--json"]),
    ]);
    database.exec("ROLLBACK");
    database.close();
    for (const { status, stdout, stderr } of locked) {
      expect({ status, stdout }, stderr).toEqual({ status: 6, stdout: "" });
      expect(document(stderr)["error"]).toMatchObject({ code: "store_locked" });
    }
    expect((await bench.run(["revocations", "list"])).stdout).toBe("Nothing is revoked.\n");

    for (const name of readdirSync(bench.home)) {
      if (name.startsWith("proviso.db"))
        writeFileSync(join(bench.home, name), "not a database".repeat(999));
    }
    const { status, stderr } = await bench.run(["revocations", "list", "--json"]);
    expect(status).toBe(6);
    expect(document(stderr)["error"]).toMatchObject({ code: "store_corrupt" });
  });
});
