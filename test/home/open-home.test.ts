import { chmodSync, mkdirSync, readdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { createHome, type Home, type HomeOptions, openHome } from "../../src/home/index.js";
import { Bench } from "../cli/run.js";
import { serve, WAIT, writeAgent } from "../cli/serving.js";
import { temporaryFolder } from "../support/temporary-folder.js";

const READ = { grant: "notes:read", operations: ["read"] };
const READING = { grant: "notes:read", operation: "read" };
const GRANTS = [{ id: "notes:read", operations: ["read"] }];

async function newHome(): Promise<string> {
  const folder = join(temporaryFolder(), "home");
  await createHome({ folder, issuer: "notes-agent" });
  return folder;
}

async function opened(options: HomeOptions): Promise<Home> {
  const home = await openHome(options);
  onTestFinished(() => home.close());
  return home;
}

/** Returns the codes of a refusal, or `allowed`. */
function outcome({ issuer }: Home, token: string, invocation: object = READING): string {
  const decision = issuer.authorize(token, { ...READING, ...invocation });
  return decision.allowed ? "allowed" : decision.denials.map(({ code }) => code).join();
}

async function revoke({ issuer, revocations }: Home, token: string): Promise<void> {
  const revocation = issuer.revocationOf(token);
  if (!revocation.ok) throw new Error(revocation.denial.message);
  await revocations.add(revocation.entry);
}

describe("openHome", () => {
  test("restores tokens, revocations, the ledger, resource numbers and party records after a restart", async () => {
    const folder = await newHome();
    const first = await openHome({ folder });
    const [kept, gone] = [first.issuer.mint(READ), first.issuer.mint(READ)];
    expect(first.issuer).toMatchObject({ name: "notes-agent", maxLifetime: 86_400 });
    expect(outcome(first, gone.token)).toBe("allowed");
    await revoke(first, gone.token);
    expect(outcome(first, gone.token)).toBe("revoked");
    const at = new Date().toISOString();
    first.ledger.note({ kind: "invocation", at, decision: "allowed", principal: "alice" });
    const numbers = await first.resourceNumbers.numbersOf(["notes/milk"]);
    const use = { scope: "test", id: "1", expires: Date.now() + 60_000 };
    expect(await first.partyStore.useOnce(use, Date.now())).toBe("first");
    await first.close();

    const second = await opened({ folder });
    expect([kept, gone].map(({ token }) => outcome(second, token))).toEqual(["allowed", "revoked"]);
    expect(await second.ledger.list({})).toHaveLength(1);
    expect(await second.resourceNumbers.numbersOf(["notes/milk"])).toEqual(numbers);
    expect(await second.partyStore.useOnce(use, Date.now())).toBe("used");
  });

  test("returns a home whose close() closes the database, and throws a TypeError for a ledger retention of 0", async () => {
    const folder = await newHome();
    const home = await openHome({ folder });
    await home.close();
    await expect(home.resourceNumbers.namesOf([1])).rejects.toThrow("the database is closed");
    await expect(openHome({ folder, ledger: { retention: 0 } })).rejects.toThrow(TypeError);
    rmSync(folder, { recursive: true });
  });

  test("follows key rotations by another process, and problems() reports a missing key file", async () => {
    const bench = new Bench();
    await bench.init();
    const home = await opened({ folder: bench.home });
    const { token } = home.issuer.mint(READ);
    const before = home.keys().minting.kid;
    await bench.output("keys", "rotate");
    await bench.output("keys", "retire", before);
    await expect.poll(() => outcome(home, token)).toBe("unknown_key");
    expect(home.keys().minting.kid).not.toBe(before);
    expect(await home.problems()).toEqual([]);
    rmSync(join(bench.home, "keyring.json"));
    await expect.poll(() => home.problems()).toEqual(["key_file_missing"]);
  });

  test("works beside a running proviso serve, and each sees the other's revocations", async () => {
    const bench = new Bench();
    await bench.init();
    writeAgent(bench);
    const agent = await serve(bench);
    const home = await opened({ folder: bench.home });
    const [first, second] = [await agent.capability(WAIT), await agent.capability(WAIT)];
    const waiting = { grant: "notes:wait", operation: "wait" };
    expect(outcome(home, first, waiting)).toBe("allowed");
    await revoke(home, first);
    await expect.poll(() => agent.outcome("wait", { ms: 1 }, first)).toBe("revoked");
    await agent.rpc("a2a/capabilities/revoke", { token: second });
    await expect.poll(() => outcome(home, second, waiting)).toBe("revoked");
  });

  test("accepts the options grants, maxLifetime and audience", async () => {
    const folder = await newHome();
    const home = await opened({ folder, grants: GRANTS, maxLifetime: 60, audience: "notes" });
    expect(home.issuer.maxLifetime).toBe(60);
    expect(outcome(home, home.issuer.mint({ ...READ, audience: ["notes"] }).token)).toBe("allowed");
    const { token } = home.issuer.mint({ grant: "notes:read" });
    expect(outcome(home, token, { operation: "delete" })).toContain("operation_denied");
  });
});

describe("wrong options are refused", () => {
  test.each<[object, string]>([
    [{ foldr: "x" }, 'options.foldr: unknown property; did you mean "folder"?'],
    [{ folder: "" }, "folder: must name a folder"],
    [{ maxLifetime: 86_401 }, "maxLifetime: the home allows 86400 seconds at most"],
    [{ maxLifetime: 0 }, "maxLifetime must be 1 to 7776000 whole seconds"],
    [{ grants: [] }, "grants: "],
    [
      { grants: [{ id: "notes:read", operations: ["read", "delete"] }] },
      'grants: "notes:read" has delete, read here, and read in ',
    ],
  ])("by openHome: %j", async (options, message) => {
    const folder = join(temporaryFolder(), "home");
    await createHome({ folder, issuer: "notes-agent", grants: GRANTS });
    const error: unknown = await openHome({ folder, ...options }).catch((one: unknown) => one);
    expect(error).toBeInstanceOf(TypeError);
    expect(String(error)).toContain(message);
  });

  test.each<[object, string]>([
    [{ isuer: "x" }, 'options.isuer: unknown property; did you mean "issuer"?'],
    [{ issuer: "" }, '"issuer" must be a name'],
    [{ issuer: "a", maxLifetime: 1e9 }, '"maxLifetime" must be 1 to 7776000 whole seconds'],
    [{ issuer: "a", grants: [{ id: "a" }] }, "grants[0].operations: must be an array of strings"],
  ])("by createHome: %j", async (options, message) => {
    const parent = temporaryFolder();
    const making = createHome({ folder: join(parent, "home"), issuer: "a", ...options });
    await expect(making).rejects.toThrow(TypeError);
    await expect(making).rejects.toThrow(message);
    expect(readdirSync(parent)).toEqual([]);
  });
});

describe("a folder that cannot be used is refused with a code", () => {
  test.each<[string, (folder: string) => void]>([
    ["home_missing", (folder) => rmSync(folder, { recursive: true })],
    [
      "home_missing",
      (folder) => {
        rmSync(folder, { recursive: true });
        mkdirSync(folder);
      },
    ],
    [
      "home_not_folder",
      (folder) => {
        rmSync(folder, { recursive: true });
        writeFileSync(folder, "");
      },
    ],
    ["home_incomplete", (folder) => rmSync(join(folder, "keyring.json"))],
    [
      "home_unreadable",
      (folder) => {
        rmSync(join(folder, "config.json"));
        symlinkSync("config.json", join(folder, "config.json"));
      },
    ],
    ["config_malformed", (folder) => writeFileSync(join(folder, "config.json"), "{")],
    ["key_file_exposed", (folder) => chmodSync(join(folder, "keyring.json"), 0o644)],
    ["store_outdated", (folder) => writeFileSync(join(folder, "store.db"), "")],
  ])("by openHome: %s", async (code, damage) => {
    const folder = await newHome();
    damage(folder);
    const error: unknown = await openHome({ folder }).catch((one: unknown) => one);
    expect(error).toMatchObject({ code, path: expect.stringContaining(folder) });
    // The command, not the library, says which command to run next.
    expect(String(error)).not.toContain("proviso init");
  });

  test.each<[string, (folder: string) => unknown]>([
    ["home_exists", () => {}],
    ["home_incomplete", (folder) => rmSync(join(folder, "proviso.db"))],
    [
      "folder_in_use",
      (folder) => {
        for (const name of readdirSync(folder)) rmSync(join(folder, name));
        writeFileSync(join(folder, "letter.txt"), "");
      },
    ],
    [
      "home_not_folder",
      (folder) => {
        rmSync(folder, { recursive: true });
        writeFileSync(folder, "");
      },
    ],
  ])("by createHome: %s", async (code, change) => {
    const folder = await newHome();
    change(folder);
    await expect(createHome({ folder, issuer: "a" })).rejects.toMatchObject({ code, path: folder });
  });

  test.runIf(process.platform === "linux")("by createHome: home_unwritable", async () => {
    const folder = join("/proc", "home");
    const error = { code: "home_unwritable", path: folder };
    await expect(createHome({ folder, issuer: "a" })).rejects.toMatchObject(error);
  });
});

test("createHome refuses a database file other than proviso.db inside the home's folder", async () => {
  const folder = join(temporaryFolder(), "home");
  const within = createHome({ folder, issuer: "a", database: join(folder, "other.db") });
  await expect(within).rejects.toThrow(/^database: in the home's folder it is proviso\.db/);
  await createHome({ folder, issuer: "a", database: join(folder, ".", "proviso.db") });
  const own = readdirSync(folder).filter((name) => !/-(wal|shm)$/.test(name));
  expect(own.sort()).toEqual(["config.json", "keyring.json", "proviso.db"]);
});
