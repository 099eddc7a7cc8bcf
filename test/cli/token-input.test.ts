import { chmodSync, mkdirSync, writeFileSync } from "node:fs";
import { beforeAll, describe, expect, test } from "vitest";
import { inspect } from "../../src/index.js";
import {
  addFirstPartyCaveat,
  createMacaroon,
  createRootKey,
  macaroonToBytes,
  macaroonToText,
} from "../../src/macaroon/index.js";
import { Bench } from "./run.js";

const bench = new Bench();
let token = "";
beforeAll(async () => {
  await bench.init();
  token = await bench.output("mint", "--grant", "documents:read", "--op", "retrieve");
  bench.write("token", `\n  ${token} \r\n`);
});

test("verify reads a token from an argument, from @FILE, or from standard input with or without -", async () => {
  const verify = ["--grant", "documents:read", "--op", "retrieve"];
  const runs = await Promise.all([
    bench.run(["verify", token, ...verify]),
    bench.run(["verify", "@token", ...verify]),
    bench.run(["verify", `@${bench.path("token")}`, ...verify]),
    bench.run(["verify", "-", ...verify], { input: `${token}\n` }),
    bench.run(["verify", ...verify], { input: ` ${token}\n\n` }),
    bench.run(["verify", ...verify], { input: `\uFEFF${token}` }),
  ]);
  for (const { status, stdout } of runs) {
    expect(stdout).toMatch(/^allowed\n/);
    expect(status).toBe(0);
  }
});

test("verify refuses white space around a token that is an argument", async () => {
  const { status, stdout } = await bench.run([
    "verify",
    ` ${token}`,
    "--grant",
    "documents:read",
    "--op",
    "retrieve",
  ]);
  expect(status).toBe(3);
  expect(stdout).toContain("base64_whitespace");
});

test("inspect refuses a token with line breaks, with a hint to join the lines", async () => {
  const wrapped = token.replace(/(.{60})/g, "$1\n");
  const { status, stderr } = await bench.run(["inspect"], { input: wrapped });
  expect(status).toBe(3);
  expect(stderr).toContain("white space inside the token (at 60)");
  expect(stderr).toContain("it was broken over lines when it was copied; join them");
});

describe("a wrong source of a token is refused with an explanation", () => {
  test.each<[string, readonly string[], number, RegExp]>([
    ["an empty argument", ["inspect", ""], 3, /the token is empty\nhint: if it comes from a shell/],
    ["empty standard input", ["inspect"], 3, /the token is empty/],
    ["a missing file", ["inspect", "@nothing"], 6, /could not read nothing: there is no such file/],
    ["a folder", ["inspect", "@folder"], 6, /could not read folder: it is a folder/],
    ["a bare @", ["inspect", "@"], 2, /@ is not followed by the name of a file/],
    [
      "standard input for both tokens",
      ["diff", "-", "-"],
      2,
      /only one token can come from standard/,
    ],
    [
      "standard input for one token, and no second token",
      ["diff", "-"],
      2,
      /only one token can come from standard/,
    ],
    ["a file name without @", ["inspect", "token.txt"], 3, /hint: give the token itself, @FILE/],
  ])("%s", async (_what, args, expected, message) => {
    mkdirSync(bench.path("folder"), { recursive: true });
    const { status, stdout, stderr } = await bench.run(args);
    expect(stderr).toMatch(message);
    expect({ status, stdout }).toEqual({ status: expected, stdout: "" });
  });
});

test("verify refuses the name of an existing file without @, with a hint to write @", async () => {
  bench.write("task.token", token);
  const { status, stdout, stderr } = await bench.run(["verify", "task.token", "--op", "retrieve"]);
  expect({ status, stdout }).toEqual({ status: 3, stdout: "" });
  expect(stderr).toContain("hint: there is a file task.token: write @task.token\n");
});

describe("text around a token", () => {
  const idOf = async (args: readonly string[], input = ""): Promise<string> => {
    const { status, stdout } = await bench.run(["inspect", ...args, "--json"], { input });
    expect(status).toBe(0);
    return JSON.parse(stdout).capability.id;
  };
  const issued = (text: string): object => ({ capabilities: [{ token }, { token: text }] });
  let id = "";
  let other = "";
  let otherId = "";
  beforeAll(async () => {
    other = await bench.output("mint", "--grant", "documents:read", "--op", "retrieve");
    id = await idOf([token]);
    otherId = await idOf([other]);
  });

  test.each<[string, (text: string) => string]>([
    ["a header's value", (text) => `Bearer ${text}`],
    ["a header's value in small letters", (text) => `bearer  ${text}`],
    ["quotes", (text) => `"${text}"`],
    ["single quotes", (text) => `'${text}'`],
    [
      "the output of a command with --json",
      (text) => JSON.stringify({ token: text, id: "cap_1" }, null, 2),
    ],
    ["the output of request --json", (text) => JSON.stringify({ capabilities: [{ token: text }] })],
  ])("inspect finds a token in %s", async (_what, around) => {
    expect(await idOf([], `${around(token)}\n`)).toBe(id);
    expect(await idOf([around(token)])).toBe(id);
  });

  test.each<[string, () => string]>([
    ["one per line", () => `${token}\n\n  ${other}\n`],
    ["one per line, in quotes", () => `"${token}"\n"${other}"\n`],
    ["in JSON", () => JSON.stringify(issued(other))],
  ])("inspect picks one of several tokens by its number in the file: %s", async (_how, text) => {
    bench.write("tokens", text());
    expect(await idOf(["@tokens:1"])).toBe(id);
    expect(await idOf(["@tokens:2"])).toBe(otherId);
    const none = await bench.run(["inspect", "@tokens"]);
    expect(none).toMatchObject({ status: 2, stdout: "" });
    expect(none.stderr).toContain("these are 2 tokens, one a line");
    expect(none.stderr).toContain("hint: choose one by its number: @tokens:2");
    const third = await bench.run(["inspect", "@tokens:3"]);
    expect(third).toMatchObject({ status: 2, stdout: "" });
    expect(third.stderr).toContain("there is no token 3: there are 2");
  });

  test("inspect prefers a file whose name ends in :2 to the second token of another file", async () => {
    bench.write("tokens", `${other}\n${other}\n`);
    bench.write("tokens:2", token);
    expect(await idOf(["@tokens:2"])).toBe(id);
  });

  test("the function inspect of the library accepts only a token without other text", () => {
    for (const around of [`Bearer ${token}`, `"${token}"`, JSON.stringify({ token })]) {
      expect(() => inspect(around)).toThrow();
    }
  });
});

test("an error about a broken token names the file that the token came from", async () => {
  bench.write("broken", token.slice(0, -8));
  bench.write("header", `Bearer ${token.slice(0, -8)}`);
  const named = async (...args: string[]): Promise<string> => {
    const { status, stderr } = await bench.run(args);
    expect(status).toBe(3);
    return stderr;
  };
  expect(await named("diff", "@token", "@broken")).toMatch(/^proviso: broken: /);
  expect(await named("diff", "@header", "@broken")).toMatch(/^proviso: header: /);
  expect(await named("diff", token, "AgIB")).toMatch(/^proviso: the child: /);
  expect(await named("inspect", "@broken")).toMatch(/^proviso: broken: /);
  expect(await named("attenuate", "@broken")).toMatch(/^proviso: broken: /);
  expect(await named("convert", "@broken", "--to", "v1")).toMatch(/^proviso: broken: /);
});

test("inspect says why a token file cannot be read, with a hint", async () => {
  const secret = bench.write("secret", token);
  chmodSync(bench.folder, 0o755);
  chmodSync(secret, process.getuid?.() === 0 ? 0o600 : 0);
  const [forbidden, absent, long] = await Promise.all([
    bench.spawned(["inspect", "@secret"], { unprivileged: true }),
    bench.run(["inspect", "@nothing"]),
    bench.run(["inspect", `@${"x".repeat(300)}`]),
  ]);
  expect(forbidden.stderr).toContain(
    "could not read secret: permission denied\nhint: check its permissions\n",
  );
  expect(absent.stderr).toContain("there is no such file\nhint: check the name\n");
  expect(long.stderr).toContain("its name is too long\nhint: give a token as it is, without @\n");
});

test("inspect and verify refuse input of more than 1 MiB and input that is not text", async () => {
  const [endless, binary, noise] = await Promise.all([
    bench.run(["inspect", "@/dev/zero"]),
    bench.run(["verify", "--grant", "g", "--op", "o"], { input: Buffer.from(token, "base64url") }),
    bench.run(["inspect"], { input: Buffer.from([0xff, 0xfe, 0xfd]) }),
  ]);
  expect(endless.status).toBe(3);
  expect(endless.stderr).toContain("more than 1048576 bytes; no token is that long");
  expect(binary.status).toBe(3);
  expect(binary.stderr).toContain(
    "if it is a macaroon in binary, convert it: proviso convert @FILE --to v2",
  );
  expect(noise.status).toBe(3);
  expect(noise.stderr).toContain("this is neither a v1 nor a v2 macaroon");
});

describe("a macaroon in binary, as lnd writes admin.macaroon", () => {
  // The identifier of an lnd macaroon: version 3 and a protobuf message, which is not UTF-8.
  const identifier = Uint8Array.of(3, 10, 4, 0x58, 0xd8, 0xff, 0xfe, 0x12, 1, 0x30);
  const key = createRootKey(new Uint8Array(32).fill(7));
  const macaroon = addFirstPartyCaveat(
    createMacaroon(key, { location: "lnd", identifier }),
    "ipaddr 127.0.0.1",
  );

  test.each(["v1", "v2"] as const)("is inspected and converted from a file (%s)", async (form) => {
    writeFileSync(bench.path("admin.macaroon"), macaroonToBytes(macaroon, form));
    const inspected = await bench.json("inspect", "@admin.macaroon");
    expect(inspected).toMatchObject({
      format: form,
      location: "lnd",
      identifier: { hex: Buffer.from(identifier).toString("hex") },
      links: [{ raw: { text: "ipaddr 127.0.0.1" } }],
      warnings: [{ code: "not_a_capability" }],
    });
    const { token: converted } = await bench.json("convert", "@admin.macaroon", "--to", "v2");
    expect(converted).toBe(macaroonToText(macaroon));
  });

  test("is inspected from standard input", async () => {
    const input = Buffer.from(macaroonToBytes(macaroon, "v2"));
    const { status, stdout } = await bench.run(["inspect"], { input });
    expect(status).toBe(0);
    expect(stdout).toContain("lnd");
  });
});

describe("convert", () => {
  test.each(["v1", "v2", "v1json", "v2json"])(
    "changes a token to %s and back to the same token",
    async (form) => {
      const { token: converted, format } = await bench.json("convert", token, "--to", form);
      expect(format).toBe(form);
      const { stdout } = await bench.run(["convert", "--to", "v2"], { input: `${converted}\n` });
      expect(stdout).toBe(`${token}\n`);
      const verified = await bench.run(
        ["verify", "--grant", "documents:read", "--op", "retrieve"],
        {
          input: converted,
        },
      );
      expect(verified.status).toBe(form === "v2" ? 0 : 3);
      if (form !== "v2") expect(verified.stdout).toContain("convert it: proviso convert --to v2");
    },
  );

  test("refuses an unknown format", async () => {
    const { status, stderr } = await bench.run(["convert", token, "--to", "v3"]);
    expect(status).toBe(2);
    expect(stderr).toContain("Allowed choices are v1, v2, v1json, v2json");
  });
});

describe.each(["v1", "v1json", "v2json", "hex"])("a capability in the form %s", (form) => {
  const file = `in-${form}`;
  beforeAll(async () => {
    const hex = (): string => Buffer.from(token, "base64url").toString("hex");
    bench.write(file, form === "hex" ? hex() : await bench.output("convert", token, "--to", form));
  });

  // Nothing listens at these addresses, and no server is started: the token is refused before.
  test.each<readonly string[]>([
    ["attenuate", `@${file}`, "--op", "retrieve"],
    ["diff", `@${file}`, "@token"],
    ["diff", "@token", `@${file}`],
    ["invoke", "http://127.0.0.1:1", "list_documents", `@${file}`],
    ["session", "connect", "127.0.0.1:1", "--token", `@${file}`, "--call", "mem/get"],
    ["mcp", "explain", "--token", `@${file}`, "--", "no-such-program"],
  ])(
    "is refused by proviso %s %s, with the command that converts it and no other hint",
    async (...words) => {
      const { status, stdout, stderr } = await bench.run(words);
      expect(stderr).toMatch(
        new RegExp(
          `^proviso: ${file}: a capability is presented as base64url of v2 binary, and this is .*; ` +
            "convert it: proviso convert --to v2.*\\n$",
        ),
      );
      expect({ status, stdout }).toEqual({ status: 3, stdout: "" });
    },
  );

  test("is refused by verify and revoke, without the hint that it was altered", async () => {
    const call = ["--grant", "documents:read", "--op", "retrieve"];
    const verified = await bench.run(["verify", `@${file}`, ...call]);
    const revoked = await bench.run(["revoke", `@${file}`]);
    expect([verified.status, revoked.status]).toEqual([3, 3]);
    for (const text of [verified.stdout, revoked.stderr]) {
      expect(text.split("proviso convert --to v2")).toHaveLength(2);
      expect(text).not.toContain("hint:");
    }
  });
});

describe("diff", () => {
  test("prints the limits and the purpose that the second token adds to the first", async () => {
    const child = await bench.output(
      ...["attenuate", token, "--purpose", "one report", "--arg", "amount<=5"],
    );
    const { status, stdout } = await bench.run(["diff", "@token", child]);
    expect(status).toBe(0);
    expect(stdout).toBe(
      "The second was narrowed from the first by one hop.\n" +
        '  purpose: "one report"\n' +
        '  constraints.amount: no limit, now {"max":5}\n',
    );
    const piped = await bench.run(["diff", "@token", "--json"], { input: child });
    expect(JSON.parse(piped.stdout)).toMatchObject({
      derived: true,
      changes: [{ rule: "constraints.amount" }],
    });
    expect((await bench.run(["diff", token, token])).stdout).toBe("Both are the same token.\n");
  });

  test("exits with 4 for tokens of two different capabilities", async () => {
    const other = await bench.output("mint", "--grant", "documents:read", "--op", "retrieve");
    const { status, stdout } = await bench.run(["diff", token, other]);
    expect(status).toBe(4);
    expect(stdout).toMatch(/^not related: these are two different capabilities/);
    expect(await bench.json("diff", token, other)).toMatchObject({
      status: 4,
      derived: false,
      reason: "other_capability",
    });
  });
});
