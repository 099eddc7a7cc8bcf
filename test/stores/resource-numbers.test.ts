import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import {
  type ResourceNumbers,
  ResourceNumbersInMemory,
} from "../../src/agent/resources/resource-numbers.js";
import { openStores, type StoreDatabase, tablesOf } from "../../src/stores/database.js";
import { ResourceNumberStore } from "../../src/stores/resource-numbers.js";
import { childProgram } from "../support/children.js";
import { throughStores } from "../support/databases.js";
import { FULL } from "../support/size.js";
import { temporaryFolder } from "../support/temporary-folder.js";

/** Names that a text column, a careless query or a careless comparison would treat as equal. */
const ALIKE = ["caf\u00e9", "cafe\u0301", "Caf\u00e9", "a", "A", "a ", "a\0", "a\ud800", "a\udbff"];
const ODD = ["'; --", '"', "\\", "\u{1f600}", "\u2028", "x".repeat(512), "é".repeat(256)];
const CONTROLS = String.fromCharCode(...Array.from({ length: 512 }, (_, at) => (at * at) % 32));
const NAMES = [...ALIKE, ...ODD, CONTROLS];

/** Tests the behaviour that every ResourceNumbers must have. */
function promises(numbers: () => Promise<ResourceNumbers>): void {
  test("a name keeps the number that it was given", async () => {
    const one = await numbers();
    const first = await one.numbersOf(["a", "b", "a"]);
    expect([...first.keys()].sort()).toEqual(["a", "b"]);
    expect(first.get("a")).not.toBe(first.get("b"));
    const later = await one.numbersOf(["c", "b", "a"]);
    expect([later.get("a"), later.get("b")]).toEqual([first.get("a"), first.get("b")]);
    expect(new Set(later.values()).size).toBe(3);
    for (const number of later.values()) expect(Number.isSafeInteger(number)).toBe(true);
  });

  test("namesOf returns the name of each number, and leaves unknown numbers out", async () => {
    const one = await numbers();
    const given = await one.numbersOf(NAMES);
    expect(given.size).toBe(NAMES.length);
    expect(new Set(given.values()).size).toBe(NAMES.length);
    const names = await one.namesOf([...given.values(), 0, 2 ** 53 - 1]);
    expect(names.size).toBe(NAMES.length);
    for (const [name, number] of given) expect(names.get(number)).toBe(name);
    expect((await one.namesOf([])).size).toBe(0);
    expect((await one.numbersOf([])).size).toBe(0);
  });

  test("concurrent calls for the same names get the same numbers", async () => {
    const one = await numbers();
    const asked = Array.from({ length: 20 }, (_, at) =>
      Array.from({ length: 10 }, (__, index) => `name ${at + index}`),
    );
    const answers = await Promise.all(asked.map((names) => one.numbersOf(names)));
    const all = new Map(answers.flatMap((answer) => [...answer]));
    expect(new Set(all.values()).size).toBe(29);
    for (const answer of answers) {
      for (const [name, number] of answer) expect(all.get(name)).toBe(number);
    }
  });

  test("resource numbers are random, and do not rise with the names", async () => {
    const one = await numbers();
    const given = [
      ...(await one.numbersOf(Array.from({ length: 64 }, (_, at) => `${at}`))).values(),
    ];
    const rises = given.filter((number, at) => number > (given[at - 1] ?? 0));
    expect(rises.length).toBeLessThan(56);
    // Random numbers would all be below 2^47 only once in 10^100 runs.
    expect(Math.max(...given)).toBeGreaterThan(2 ** 47);
  });
}

/** Returns a random source that makes each number twice. */
function twice(): (length: number) => Uint8Array {
  let calls = 0;
  return (length) => new Uint8Array(length).fill(Math.floor(calls++ / 2));
}

describe("numbers in memory", () => {
  promises(async () => new ResourceNumbersInMemory());

  test("are drawn again if they are taken", async () => {
    const numbers = new ResourceNumbersInMemory(twice());
    expect(new Set((await numbers.numbersOf(["a", "b", "c"])).values()).size).toBe(3);
  });
});

throughStores((place) => {
  async function opened(at?: string): Promise<StoreDatabase> {
    const database = await openStores(at ?? (await place()), "create");
    onTestFinished(() => database.close());
    return database;
  }

  promises(async () => new ResourceNumberStore(await opened()));

  test("a second connection and a later connection find the same numbers", async () => {
    const where = await place();
    const first = new ResourceNumberStore(await opened(where));
    const second = new ResourceNumberStore(await opened(where));
    const given = await first.numbersOf(NAMES);
    expect(await second.numbersOf(NAMES)).toEqual(given);
    expect((await second.namesOf([...given.values()])).size).toBe(NAMES.length);
    const third = new ResourceNumberStore(await opened(where));
    expect(new Set((await third.namesOf([...given.values()])).values())).toEqual(new Set(NAMES));
  });

  test("known names and numbers are not read from the database again", async () => {
    const database = await opened();
    const numbers = new ResourceNumberStore(database);
    const given = await numbers.numbersOf(["a", "b"]);
    await database.close();
    expect(await numbers.numbersOf(["b", "a"])).toEqual(given);
    expect((await numbers.namesOf([...given.values()])).size).toBe(2);
    await expect(numbers.numbersOf(["c"])).rejects.toThrow("closed");
  });

  test("a number in the database is drawn again if it is taken", async () => {
    const numbers = new ResourceNumberStore(await opened(), twice());
    expect(new Set((await numbers.numbersOf(["a", "b", "c"])).values()).size).toBe(3);
  });

  test("each of 2,500 names gets its own number", async () => {
    const numbers = new ResourceNumberStore(await opened());
    const names = Array.from({ length: 2500 }, (_, at) => `reports/${at}`);
    const given = await numbers.numbersOf(names);
    expect(new Set(given.values()).size).toBe(2500);
  });

  test("reading a resource name that the store cannot have written fails with store_corrupt", async () => {
    const database = await opened();
    await tablesOf(database).write((db) =>
      db
        .insertInto("resource_number")
        .values([
          { number: 1, name: "not JSON" },
          { number: 2, name: "7" },
        ])
        .execute(),
    );
    const numbers = new ResourceNumberStore(database);
    for (const number of [1, 2]) {
      await expect(numbers.namesOf([number])).rejects.toMatchObject({ code: "store_corrupt" });
    }
  });

  if (FULL) {
    test("several processes that request the same new names at once get the same numbers", async () => {
      const where = await place();
      await opened(where);
      const script = childProgram("stores", "number");
      const children = Array.from({ length: 3 }, () =>
        spawn(process.execPath, [script, where], { stdio: ["pipe", "pipe", "inherit"] }),
      );
      const answers = children.map(async (child): Promise<[string, number][]> => {
        onTestFinished(() => void child.kill("SIGKILL"));
        let text = "";
        child.stdout.setEncoding("utf8").on("data", (part: string) => {
          text += part;
        });
        await once(child.stdout, "data");
        return once(child, "close").then(() => JSON.parse(text.slice("ready\n".length)));
      });
      await Promise.all(children.map(({ stdout }) => once(stdout, "data")));
      for (const child of children) child.stdin.end("go\n");
      const given = (await Promise.all(answers)).map((answer) => new Map(answer));
      const [first = new Map<string, number>()] = given;
      expect(first.size).toBe(300);
      expect(new Set(first.values()).size).toBe(300);
      for (const other of given) expect(other).toEqual(first);
      const numbers = new ResourceNumberStore(await opened(where));
      expect(await numbers.numbersOf([...first.keys()])).toEqual(first);
    });
  }
});

test("on a nearly full disk, every call of numbersOf with a new name fails with store_full", async () => {
  const reserve = Number.MAX_SAFE_INTEGER;
  const place = join(temporaryFolder(), "proviso.db");
  const database = await openStores(place, "create", { reserve });
  onTestFinished(() => database.close());
  const numbers = new ResourceNumberStore(database);
  for (let call = 0; call < 2; call++) {
    await expect(numbers.numbersOf(["a"])).rejects.toMatchObject({ code: "store_full" });
  }
});
