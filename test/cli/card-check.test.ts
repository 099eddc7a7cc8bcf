import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Json } from "../../src/bytes/json.js";
import { CAPABILITY_REGISTRY } from "../../src/discovery/index.js";
import { card } from "../discovery/cards.js";
import { changed } from "../discovery/changed.js";
import { httpServer } from "../support/loopback-servers.js";
import { type RunningAgent, startAgent } from "./agent.js";
import { Bench, document } from "./run.js";

// `card lint` and `card diff`, with files and with a running agent.

const bench = new Bench();
let agent: RunningAgent;
beforeAll(async () => {
  agent = await startAgent();
  write("card.json", CARD);
});
afterAll(() => agent.stop());

const PARAMS = { capabilities: { pause_resume: true } };
const CARD: Json = card({ params: PARAMS });
const PAUSE = "/capabilities/extensions/0/params/capabilities/pause_resume";

function write(name: string, value: Json): string {
  return bench.write(name, JSON.stringify(value, null, 2));
}

describe("card lint", () => {
  test("finds nothing wrong with a valid card", async () => {
    expect(await bench.run(["card", "lint", "card.json"])).toEqual({
      status: 0,
      stderr: "",
      stdout: "card.json: nothing is wrong\n",
    });
  });

  test("checks a card of A2A 0.3 by that version, or by 1.0 with --protocol 1.0", async () => {
    const { supportedInterfaces: _, ...others } = Object(card());
    const old = { ...others, url: "https://a.example", protocolVersion: "0.3.0" };
    write("old.json", old);
    const { status, stdout } = await bench.run(["card", "lint", "old.json"]);
    expect(status).toBe(0);
    expect(stdout).toContain("this is a card of A2A 0.3; callers of A2A 1.0 cannot use it");
    expect(stdout).toMatch(/\nold\.json: nothing is wrong; 2 remarks\n$/);
    const later = await bench.run(["card", "lint", "old.json", "--protocol", "1.0"]);
    expect(later.status).toBe(1);
    expect(later.stdout).toContain('"supportedInterfaces" is missing');
    expect(later.stdout).toContain("what follows is what A2A 1.0 asks of it");
    const none = await bench.run(["card", "lint", "old.json", "--protocol", "0.4"]);
    expect([none.status, none.stderr]).toEqual([2, expect.stringContaining("0.1, 0.2, 0.3, 1.0")]);
  });

  test("prints the line, the column and the path of an error in a card, and the text of the line", async () => {
    write("bad.json", changed(CARD, "/skills/0/tags", "t"));
    const { status, stdout } = await bench.run(["card", "lint", "bad.json"]);
    expect(status).toBe(1);
    const [title, excerpt] = stdout.split("\n");
    expect(title).toMatch(/^bad\.json:\d+:7: error schema: \/skills\/0\/tags: expected an array$/);
    expect(excerpt).toBe('  "tags": "t"');
  });

  test("exits with 0 if there are only warnings", async () => {
    write("warned.json", changed(CARD, PAUSE.replace("pause_resume", "artifact_streaming"), true));
    const { status, stdout } = await bench.run(["card", "lint", "warned.json"]);
    expect([status, stdout]).toEqual([0, expect.stringContaining("use streaming_message")]);
  });

  test("with --json prints the findings", async () => {
    const { status, stdout } = await bench.run(["card", "lint", "bad.json", "--json"]);
    expect(status).toBe(1);
    expect(document(stdout)).toMatchObject({
      card: "bad.json",
      errors: 1,
      warnings: 0,
      findings: [{ severity: "error", code: "schema", path: "/skills/0/tags", column: 7 }],
    });
  });

  test("finds no error in a served agent's card", async () => {
    const { status, stdout } = await bench.run(["card", "lint", agent.url, "--timeout", "30s"]);
    expect([status, stdout]).toEqual([0, expect.not.stringContaining("error")]);
  });

  test("escapes control characters of a card", async () => {
    const odd = await httpServer((_, response) => {
      response.setHeader("Content-Type", "application/json");
      response.end(JSON.stringify({ "\u001b[31m\u202ex": "\u001b[31m" }));
    });
    const { status, stdout } = await bench.run(["card", "lint", odd.url]);
    expect(status).toBe(1);
    expect(stdout).toContain("not a property of A2A");
    expect(stdout).not.toMatch(/(?!\n)[\p{Cc}\p{Cf}]/u);
  });

  test.each([
    ["a missing file", ["absent.json"], 6, /absent\.json: there is no such file/],
    ["a folder", ["."], 6, /it is a folder/],
    ["an empty name", [""], 2, /empty/],
    [
      "an address without an agent",
      ["http://127.0.0.1:1"],
      6,
      /could not reach|no agent is at this port/,
    ],
  ])("explains why a card cannot be read: %s", async (_, args, status, message) => {
    const run = await bench.run(["card", "lint", ...args]);
    expect([run.status, run.stderr]).toEqual([status, expect.stringMatching(message)]);
  });
});

test.each(["lint", "diff"])("card %s refuses a file of more than 1 MiB", async (verb) => {
  bench.write("large.json", `{"name":"${"x".repeat(1024 * 1024)}"}`);
  const more = verb === "diff" ? ["card.json"] : [];
  const { status, stderr } = await bench.run(["card", verb, "large.json", ...more]);
  expect(status).not.toBe(0);
  expect(stderr).toContain("large.json: it is larger than 1048576 bytes");
});

test.each(["lint", "diff"])("card %s refuses an agent's card that is not UTF-8", async (verb) => {
  const odd = await httpServer((_, response) => {
    response.setHeader("Content-Type", "application/json");
    response.end(Buffer.from('{"name":"caf\u00e9"}', "latin1"));
  });
  const more = verb === "diff" ? ["card.json"] : [];
  const { status, stderr } = await bench.run(["card", verb, odd.url, ...more]);
  expect([status, stderr]).toEqual([6, expect.stringContaining("is not UTF-8")]);
});

describe("a card from standard input", () => {
  const input = JSON.stringify(CARD);

  test("is read by card lint, card, card diff and discover", async () => {
    const lint = await bench.run(["card", "lint", "-"], { input });
    expect(lint).toMatchObject({ status: 0, stdout: "standard input: nothing is wrong\n" });
    const shown = await bench.run(["card", "-"], { input });
    expect(shown).toMatchObject({ status: 0, stdout: expect.stringContaining("pause_resume") });
    const next = changed(CARD, PAUSE, undefined);
    const diff = ["card", "diff", "card.json", "-"];
    expect((await bench.run(diff, { input })).stdout).toBe("The cards are the same.\n");
    expect((await bench.run(diff, { input: JSON.stringify(next) })).status).toBe(8);
    const judged = ["discover", "-", "--require", "pause_resume"];
    expect((await bench.run(judged, { input })).status).toBe(0);
    expect((await bench.run(judged, { input: JSON.stringify(next) })).status).toBe(1);
  });

  test("is refused by card diff for both cards", async () => {
    const { status, stderr } = await bench.run(["card", "diff", "-", "-"], { input });
    expect([status, stderr]).toEqual([2, expect.stringContaining("only one card can come from")]);
  });

  test.each<[about: string, input: string | Uint8Array, status: number, said: RegExp]>([
    ["too large", `"${"x".repeat(1024 * 1024)}"`, 6, /standard input: it is larger than 1048576/],
    ["not JSON", "{", 3, /standard input: this is not JSON\n.*card lint - shows where/],
    ["not UTF-8", Buffer.from('{"name":"\u00e9"}', "latin1"), 6, /this is not UTF-8/],
    ["UTF-16", Buffer.from('\ufeff{"name":"a"}', "utf16le"), 6, /this is not UTF-8/],
  ])("is refused by card diff if it is %s", async (_, given, status, said) => {
    const run = await bench.run(["card", "diff", "card.json", "-"], { input: given });
    expect([run.status, run.stderr]).toEqual([status, expect.stringMatching(said)]);
  });
});

describe("card diff", () => {
  test("refuses a card that has a property twice, and card lint reports the property as an error", async () => {
    bench.write("twice.json", JSON.stringify(CARD).replace("{", '{"name":"other",'));
    const { status, stderr } = await bench.run(["card", "diff", "card.json", "twice.json"]);
    expect([status, stderr]).toEqual([
      3,
      expect.stringContaining('it has the property "name" twice'),
    ]);
    const lint = await bench.run(["card", "lint", "twice.json"]);
    expect([lint.status, lint.stdout]).toEqual([1, expect.stringContaining("name_repeated")]);
  });

  test("with --registry judges deprecations by the given registry", async () => {
    const own = await bench.json("card", "registry");
    const capabilities = own["capabilities"].map((entry: { name: string }) =>
      entry.name === "pause_resume" ? { ...entry, deprecated: "2.0" } : entry,
    );
    write("next-registry.json", { version: "2.0", capabilities });
    write("before.json", changed(CARD, PAUSE, undefined));
    const args = ["card", "diff", "before.json", "card.json"];
    expect((await bench.run(args)).status).toBe(0);
    const { status, stdout } = await bench.run([...args, "--registry", "next-registry.json"]);
    expect([status, stdout]).toEqual([7, "deprecating  capabilities/pause_resume: true is new\n"]);
    const none = await bench.run([...args, "--registry", "card.json"]);
    expect([none.status, none.stderr]).toEqual([3, expect.stringContaining("unknown property")]);
  });

  test.each<[about: string, path: string, to: Json | undefined, status: number, line: string]>([
    ["no change", "/name", "agent", 0, "The cards are the same."],
    ["a safe change", "/name", "other", 0, 'safe  card/name: "agent" is now "other"'],
    [
      "a deprecation",
      PAUSE.replace("pause_resume", "artifact_streaming"),
      true,
      7,
      "deprecating  capabilities/artifact_streaming: true is new",
    ],
    ["a breaking change", PAUSE, undefined, 8, "breaking  capabilities/pause_resume: true is gone"],
  ])("prints %s, and exits with the code for its impact", async (_, path, to, status, line) => {
    write("new.json", changed(CARD, path, to));
    const run = await bench.run(["card", "diff", "card.json", "new.json"]);
    expect(run).toEqual({ status, stderr: "", stdout: `${line}\n` });
  });

  test("with --json prints the changes, also for a served agent's card", async () => {
    bench.write("served.json", await bench.output("card", agent.url, "--json"));
    const same = await bench.run(["card", "diff", "served.json", agent.url, "--json"]);
    expect(document(same.stdout)).toEqual({ impact: "safe", changes: [] });
    write("new.json", changed(CARD, PAUSE, false));
    const { status, stdout } = await bench.run(["card", "diff", "card.json", "new.json", "--json"]);
    expect(status).toBe(8);
    expect(document(stdout)).toMatchObject({
      impact: "breaking",
      changes: [{ path: "capabilities/pause_resume", before: true, after: false }],
    });
  });

  test("refuses a file that is not JSON, and names card lint as the next command", async () => {
    bench.write("text.json", '{"name": ');
    bench.write("deep.json", `${"[".repeat(20_000)}${"]".repeat(20_000)}`);
    for (const name of ["text.json", "deep.json"]) {
      const { status, stderr } = await bench.run(["card", "diff", "card.json", name]);
      expect([status, stderr]).toEqual([3, expect.stringContaining(`card lint ${name}`)]);
    }
  });
});

describe("card registry", () => {
  const pause = { name: "pause", tier: "declared", introduced: "1.0", deprecated: "2.0" };
  const registry = (version: string, more = {}): Json => ({
    version,
    capabilities: [{ ...pause, ...more }],
  });

  test("shows the capabilities that can be required, by tier", async () => {
    const text = await bench.output("card", "registry");
    expect(text).toMatch(/^implicit: [^\n]*\n {2}send_message {4}accepts one message/m);
    expect(text).toMatch(/^ {2}streaming .*; A2A's own streaming$/m);
    expect(text).toMatch(/^deprecated: [^\n]*\n {2}artifact_streaming .*; use streaming_message/m);
    expect(await bench.json("card", "registry")).toMatchObject({ ...CAPABILITY_REGISTRY });
  });

  test("finds no fault in its own output", async () => {
    bench.write("own.json", await bench.output("card", "registry", "--json"));
    const input = bench.read("own.json");
    expect((await bench.run(["card", "registry", "-"], { input })).stdout).toBe(
      "standard input: keeps every rule of stability\n",
    );
    for (const more of [[], ["--previous", "own.json"]]) {
      expect(await bench.run(["card", "registry", "own.json", ...more])).toEqual({
        status: 0,
        stderr: "",
        stdout: "own.json: keeps every rule of stability\n",
      });
    }
  });

  test("accepts a capability that is deprecated in 2.0 and removed in 3.0", async () => {
    write("example.json", registry("3.0", { removed: "3.0" }));
    expect((await bench.run(["card", "registry", "example.json"])).status).toBe(0);
    write("before.json", registry("2.0"));
    const args = ["card", "registry", "example.json", "--previous", "before.json"];
    expect((await bench.run(args)).status).toBe(0);
    const back = ["card", "registry", "before.json", "--previous", "example.json"];
    expect((await bench.run(back)).stdout).toContain("version 2.0 does not follow 3.0");
  });

  test("prints the number of the stability rule that a registry breaks", async () => {
    write("early.json", registry("3.0", { removed: "2.1" }));
    const { status, stdout } = await bench.run(["card", "registry", "early.json"]);
    expect([status, stdout]).toEqual([
      1,
      "early.json: rule 3: pause: removed in 2.1; that is possible from 3.0 on\n",
    ]);
    const json = await bench.run(["card", "registry", "early.json", "--json"]);
    expect(document(json.stdout)).toMatchObject({
      valid: false,
      problems: [{ rule: 3, code: "removed_early", capability: "pause" }],
    });
  });

  test.each<[about: string, text: string, message: RegExp]>([
    ["text that is not JSON", "{", /no\.json: this is not JSON/],
    ["a property twice", '{"version":"1.0","version":"2.0","capabilities":[]}', /"version" twice/],
    [
      "a misspelt property",
      JSON.stringify(registry("1.0", { deprecate: "2.0" })),
      /capabilities\[0\]\.deprecate: unknown property; did you mean "deprecated"/,
    ],
    ["a card in place of a registry", JSON.stringify(CARD), /registry\.name: unknown property/],
  ])("refuses a malformed registry: %s", async (_, text, message) => {
    bench.write("no.json", text);
    const { status, stderr } = await bench.run(["card", "registry", "no.json"]);
    expect([status, stderr]).toEqual([3, expect.stringMatching(message)]);
  });
});

test("card refuses an argument that is neither a verb nor an address", async () => {
  expect(await bench.output("card", agent.url)).toContain("documents-agent 1.2.3");
  const { status, stderr } = await bench.run(["card", "lnit"]);
  expect([status, stderr]).toEqual([2, expect.stringContaining("https://")]);
});
