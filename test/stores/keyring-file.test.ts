import {
  chmodSync,
  chownSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { createKeyring, type Keyring } from "../../src/issuer/index.js";
import {
  createKeyringFile,
  createStores,
  readKeyringFile,
  replaceKeyringFile,
} from "../../src/stores/index.js";
import {
  act,
  actWithin,
  posix,
  readAct,
  root,
  storageError,
  Talker,
  unprivileged,
} from "../issuer/support.js";
import { FULL, sized } from "../support/size.js";
import { temporaryFolder } from "../support/temporary-folder.js";

const KILLS = sized(8, 1, 20);
/** Number of processes that run the same action concurrently. */
const AT_ONCE = sized(4, 2);

function keyFile(): { directory: string; path: string; keyring: Keyring } {
  const directory = temporaryFolder();
  const path = join(directory, "keys.json");
  const keyring = createKeyring();
  createKeyringFile(path, keyring);
  return { directory, path, keyring };
}

function secretsOf(keyring: Keyring): string[] {
  return keyring.exportJwkSet().keys.map(({ k }) => k);
}

describe("creating a keyring file", () => {
  test("writes a file that only its owner may open, and no other file", () => {
    const { directory, path, keyring } = keyFile();
    expect(readdirSync(directory)).toEqual(["keys.json"]);
    expect(readKeyringFile(path).exportJwkSet()).toEqual(keyring.exportJwkSet());
    if (posix) expect(statSync(path).mode & 0o777).toBe(0o600);
  });

  test("overwrites no file, and no dangling link", async () => {
    const { directory, path, keyring } = keyFile();
    const error = await storageError(() => createKeyringFile(path, createKeyring()));
    expect(error.code).toBe("key_file_exists");
    expect(error.path).toBe(path);
    expect(readKeyringFile(path).minting.kid).toBe(keyring.minting.kid);
    const link = join(directory, "link.json");
    symlinkSync(join(directory, "nowhere"), link);
    const other = await storageError(() => createKeyringFile(link, keyring));
    expect(other.code).toBe("key_file_exists");
    expect(readdirSync(directory).sort()).toEqual(["keys.json", "link.json"]);
  });

  test("in a missing directory fails, and says that the directory does not exist", async () => {
    const path = join(temporaryFolder(), "no", "keys.json");
    const error = await storageError(() => createKeyringFile(path, createKeyring()));
    expect(error.code).toBe("key_file_unwritable");
    expect(error.message).toContain("its folder does not exist");
  });

  if (FULL) {
    test("by many processes at once succeeds for only one of them", async () => {
      const path = join(temporaryFolder(), "keys.json");
      const makers = Array.from(
        { length: AT_ONCE },
        () => new Talker("act", ["create-keys", path]),
      );
      await Promise.all(makers.map((maker) => maker.end()));
      const codes = makers.map(({ lines }) => readAct(lines.join(), "").code ?? "made").sort();
      expect(codes).toEqual([...Array(AT_ONCE - 1).fill("key_file_exists"), "made"]);
      expect(readKeyringFile(path).list()).toHaveLength(1);
    });
  }
});

describe("reading a keyring file", () => {
  test("fails with key_file_missing if there is no file", async () => {
    const { directory, path } = keyFile();
    for (const missing of [join(directory, "other.json"), join(path, "below")]) {
      expect((await storageError(() => readKeyringFile(missing))).code).toBe("key_file_missing");
    }
  });

  test("fails with key_file_unreadable for a directory", async () => {
    const error = await storageError(() => readKeyringFile(temporaryFolder()));
    expect(error.code).toBe("key_file_unreadable");
  });

  test.runIf(posix).each([0o604, 0o640, 0o660, 0o644, 0o601])(
    "fails with key_file_exposed for a file of mode %o",
    async (mode) => {
      const { path } = keyFile();
      chmodSync(path, mode);
      const error = await storageError(() => readKeyringFile(path));
      expect(error.code).toBe("key_file_exposed");
      expect(error.message).toContain(mode.toString(8));
    },
  );

  test.runIf(posix)("fails with key_file_unreadable without permission to read", () => {
    const { directory, path } = keyFile();
    if (root) chmodSync(directory, 0o755);
    else chmodSync(path, 0o200);
    const { code, message } = act(["read-keys", path], unprivileged);
    expect(code).toBe("key_file_unreadable");
    expect(message).toContain("permission denied");
  });

  test("fails with key_file_malformed for a file that is cut anywhere, and shows no secret", async () => {
    const { path, keyring } = keyFile();
    const text = readFileSync(path, "utf8");
    const secret = secretsOf(keyring)[0] ?? "";
    // Cut the text at every length that removes more than the final line break.
    for (let length = 0; length < text.length - 1; length++) {
      writeFileSync(path, text.slice(0, length));
      const error = await storageError(() => readKeyringFile(path));
      expect(error.code).toBe("key_file_malformed");
      const shown = `${error.message} ${String(error.cause)} ${error.stack}`;
      expect(shown).not.toContain(secret.slice(0, 6));
    }
  });

  test.each([
    ["other JSON", "[]", /JWK Set/],
    ["two values", '{"keys":[]}{}', /not JSON/],
    ["no key that mints", '{"keys":[]}', /exactly one key/],
    ["a member twice", '{"keys":[{"kid":"a",\n"kid":"b"}]}', /line 2: "kid" is there twice/],
    [
      "a secret for a name, twice",
      `{"${"s".repeat(43)}":1,"${"s".repeat(43)}":2}`,
      /a property is/,
    ],
    ["more than 1 MiB", " ".repeat(1_048_577), /larger than 1 MiB/],
    ["NUL bytes, as after a power cut", "\0".repeat(300), /not JSON/],
  ])("fails with key_file_malformed for %s", async (_about, text, detail) => {
    const { path } = keyFile();
    writeFileSync(path, text);
    const error = await storageError(() => readKeyringFile(path));
    expect(error.code).toBe("key_file_malformed");
    expect(error.message).toMatch(detail);
  });

  test("shows no secret if a secret is damaged", async () => {
    const { path, keyring } = keyFile();
    const secret = secretsOf(keyring)[0] ?? "";
    writeFileSync(path, readFileSync(path, "utf8").replace(secret, `${secret}"`));
    const error = await storageError(() => readKeyringFile(path));
    expect(`${error.message}${error.stack}${String(error.cause)}`).not.toContain(
      secret.slice(0, 6),
    );
  });
});

describe("replacing a keyring file", () => {
  test("writes the new keyring, and keeps the file's mode", () => {
    const { directory, path, keyring } = keyFile();
    const next = keyring.rotate();
    replaceKeyringFile(path, next, keyring);
    expect(readKeyringFile(path).exportJwkSet()).toEqual(next.exportJwkSet());
    expect(readdirSync(directory)).toEqual(["keys.json"]);
    if (posix) expect(statSync(path).mode & 0o777).toBe(0o600);
  });

  test("is refused if the file has another keyring than expected", async () => {
    const { directory, path, keyring } = keyFile();
    const theirs = keyring.rotate();
    replaceKeyringFile(path, theirs, keyring);
    const error = await storageError(() => replaceKeyringFile(path, keyring.rotate(), keyring));
    expect(error.code).toBe("key_file_changed");
    expect(readKeyringFile(path).exportJwkSet()).toEqual(theirs.exportJwkSet());
    expect(readdirSync(directory)).toEqual(["keys.json"]);
  });

  test("by two callers that read the same keyring is refused for the second caller", async () => {
    const { path } = keyFile();
    const [mine, theirs] = [readKeyringFile(path), readKeyringFile(path)];
    replaceKeyringFile(path, mine.rotate(), mine);
    const error = await storageError(() => replaceKeyringFile(path, theirs.rotate(), theirs));
    expect(error.code).toBe("key_file_changed");
    expect(readKeyringFile(path).list()).toHaveLength(2);
  });

  if (FULL) {
    test("by several processes loses no rotation if each process holds a store's lock", async () => {
      const { directory, path } = keyFile();
      const database = join(directory, "proviso.db");
      await (await createStores(database)).close();
      const words = ["rotate-exclusively", path, database];
      const rotating = Array.from({ length: AT_ONCE }, () => new Talker("act", words));
      await Promise.all(rotating.map((talker) => talker.end()));
      for (const { lines } of rotating) expect(lines).toEqual(["{}"]);
      expect(readKeyringFile(path).list()).toHaveLength(1 + 10 * AT_ONCE);
    });
  }

  test("fails for a missing, exposed or damaged file with the same code as reading", async () => {
    const { directory, path, keyring } = keyFile();
    const attempt = async (file: string): Promise<string> =>
      (await storageError(() => replaceKeyringFile(file, keyring.rotate(), keyring))).code;
    expect(await attempt(join(directory, "other.json"))).toBe("key_file_missing");
    writeFileSync(path, "{");
    expect(await attempt(path)).toBe("key_file_malformed");
    if (posix) {
      chmodSync(path, 0o644);
      expect(await attempt(path)).toBe("key_file_exposed");
    }
    expect(readdirSync(directory)).toEqual(["keys.json"]);
    expect(readFileSync(path, "utf8")).toBe("{");
  });

  test.runIf(posix)("keeps a symbolic link", () => {
    const { directory, path, keyring } = keyFile();
    const link = join(directory, "link.json");
    symlinkSync(path, link);
    const next = keyring.rotate();
    replaceKeyringFile(link, next, keyring);
    expect(readlinkSync(link)).toBe(path);
    expect(readKeyringFile(path).minting.kid).toBe(next.minting.kid);
  });

  test.runIf(root)("by root keeps the file readable for the service's user", () => {
    const { directory, path, keyring } = keyFile();
    chmodSync(directory, 0o755);
    chownSync(path, 65534, 65534);
    replaceKeyringFile(path, keyring.rotate(), keyring);
    expect(statSync(path).uid).toBe(65534);
    expect(act(["read-keys", path], unprivileged).result).toHaveLength(2);
  });

  test.runIf(posix)("is refused in a directory that cannot be written", () => {
    const { directory, path, keyring } = keyFile();
    if (root) chownSync(path, 65534, 65534);
    chmodSync(directory, 0o555);
    const replaced = act(["rotate-keys", path], unprivileged);
    const created = act(["create-keys", join(directory, "more.json")], unprivileged);
    chmodSync(directory, 0o755);
    expect([replaced.code, created.code]).toEqual(["key_file_unwritable", "key_file_unwritable"]);
    expect(readdirSync(directory)).toEqual(["keys.json"]);
    expect(readKeyringFile(path).exportJwkSet()).toEqual(keyring.exportJwkSet());
  });

  test.runIf(posix)("on a full disk leaves the old keys and no other file", () => {
    const { directory, path, keyring } = keyFile();
    const replaced = actWithin(0, ["rotate-keys", path]);
    const created = actWithin(0, ["create-keys", join(directory, "more.json")]);
    expect([replaced.code, created.code]).toEqual(["key_file_unwritable", "key_file_unwritable"]);
    expect(replaced.message).toContain("nothing was changed");
    expect(readdirSync(directory)).toEqual(["keys.json"]);
    expect(readKeyringFile(path).exportJwkSet()).toEqual(keyring.exportJwkSet());
  });

  test("removes old temporary files of a dead process, and keeps recent ones", () => {
    const { directory, path, keyring } = keyFile();
    const dead = [".keys.json.dead.tmp", ".keys.json.dead.tmp-journal", ".other.json.dead.tmp"];
    for (const name of [...dead, ".keys.json.live.tmp"]) {
      writeFileSync(join(directory, name), "secret");
    }
    const longAgo = Date.now() / 1000 - 120;
    for (const name of dead) utimesSync(join(directory, name), longAgo, longAgo);
    replaceKeyringFile(path, keyring.rotate(), keyring);
    expect(readdirSync(directory).sort()).toEqual([
      ".keys.json.live.tmp",
      ".other.json.dead.tmp",
      "keys.json",
    ]);
  });

  test(`leaves either the old or the new keys in the file if its process is killed (${KILLS} times)`, async () => {
    const { path } = keyFile();
    for (let kill = 0; kill < KILLS; kill++) {
      const talker = new Talker("rotate-until-killed", [path]);
      await talker.until(2);
      await new Promise((resolve) => setTimeout(resolve, Math.random() * 15));
      await talker.kill();
      const said = talker.lines.map((line) => /^\{"(begun|done)":"(.+)"\}$/.exec(line));
      const last = said.findLast((match) => match?.[1] === "done")?.[2];
      const begun = said.findLast((match) => match?.[1] === "begun")?.[2];
      expect([last, begun]).toContain(readKeyringFile(path).minting.kid);
    }
  });
});
