import { beforeAll, describe, expect, test } from "vitest";
import { publishedServer } from "../../support/mcp-servers.js";
import { Bench, type Document } from "../run.js";
import { fickleServer } from "./gating.js";

const bench = new Bench();
const FILES = publishedServer("@modelcontextprotocol/server-filesystem", bench.folder);
/** A small server with some of the tools of the file server. */
const FEW = fickleServer(bench.path("tools.json"));

beforeAll(async () => {
  const string = { type: "string" };
  const tools = [
    tool("read_file", { path: string }),
    tool("read_text_file", { path: string, head: { type: "number" }, tail: { type: "number" } }),
    tool("list_directory", { path: string }),
    tool("write_file", { path: string, content: string }),
  ];
  bench.write("tools.json", JSON.stringify(tools));
  const token = ["mcp", "token", "--op", "read_text_file,list_directory,delete_all"];
  const limits = [
    "read_text_file:path under /srv/me",
    "read_text_file:?head<=20",
    "list_directory:path absent",
  ];
  const only = ["--only-args", "read_text_file:path,head", "--only-args", "list_directory:"];
  await bench.output(...token, "-o", "t", ...limits.flatMap((one) => ["--arg", one]), ...only);
});

function tool(name: string, properties: object): object {
  return { name, inputSchema: { type: "object", properties, required: ["path"] } };
}

function explain(...words: readonly string[]) {
  return bench.run(["mcp", "explain", ...words]);
}

describe("proviso mcp explain with a server", () => {
  test("shows for each tool of a published server which calls the token allows, or why the tool is hidden", async () => {
    const { status, stdout, stderr } = await explain("--token", "@t", "--", ...FILES);
    expect(stderr).toBe("");
    expect(status).toBe(0);
    expect(stdout).toMatch(/^secure-filesystem-server \S+: 2 of 14 tools are shown\n/);
    expect(stdout).toContain("The token ends in 30 days");
    expect(stdout).toMatch(
      /^read_text_file +head <= 20, if it is there\n +path under \/srv\/me\n +only head, path$/m,
    );
    expect(stdout).toMatch(/^list_directory +path absent\n +no arguments$/m);
    expect(stdout).toMatch(/^write_file +hidden: the token does not have this operation$/m);
    expect(stdout).toMatch(/^client:sampling +refused: the token does not have this operation$/m);
    expect(stdout).toContain('The token also has "delete_all", which this server does not.');
  });

  test("for an operation that the server lacks, suggests the tool with the nearest name", async () => {
    await bench.output("mcp", "token", "-o", "misspelt", "--op", "read_fil");
    const { stdout } = await explain("--token", "@misspelt", "--", ...FEW);
    const line =
      'The token also has "read_fil", which this server does not; did you mean read_file?';
    expect(stdout).toContain(line);
  });

  test("prints the tools with their narrowed schemas as JSON with --json", async () => {
    const { stdout } = await explain("--json", "--token", "@t", "--", ...FEW);
    const shown: Document = JSON.parse(stdout);
    const tools: readonly Document[] = shown["tools"];
    const found = (name: string) => tools.find((one) => one["name"] === name);
    expect(found("read_text_file")).toMatchObject({
      hidden: false,
      only: ["head", "path"],
      inputSchema: {
        additionalProperties: false,
        properties: {
          head: { maximum: 20 },
          path: { pattern: expect.stringContaining("/srv/me") },
        },
      },
    });
    expect(found("write_file")).toMatchObject({ hidden: true, reason: expect.any(String) });
    expect(shown["foreign"]).toEqual(["delete_all"]);
  });

  test("reports a tool for which two tokens allow no call in common, and warns of an expired token", async () => {
    await bench.output(
      "mcp",
      "token",
      "--op",
      "read_text_file",
      "--arg",
      "read_text_file:path under /etc",
      "-o",
      "other",
    );
    const both = await explain("--token", "@t", "--token", "@other", "--", ...FEW);
    expect(both.stdout).toContain(": 1 of 4 tools are shown");
    expect(both.stdout).toMatch(
      /^read_text_file +shown, but every call is refused: no value is left for "path"$/m,
    );
    await bench.output("mcp", "token", "--op", "read_text_file", "--expires", "1s", "-o", "short");
    await new Promise((resolve) => setTimeout(resolve, 1100));
    const late = await explain("--token", "@short", "--", ...FEW);
    expect(late.stderr).toContain("warning: it expired at");
  });

  test("says that a gate refuses every call, and why, and hides every tool", async () => {
    const later = new Date(Date.now() + 5 * 86_400_000).toISOString().replace(/\.\d+/, "");
    const limits = [
      [["--invoker", "bob"], 'A gate refuses every call: the token is for calls by "bob"'],
      [["--not-before", later], "A gate refuses every call: it is not valid before"],
    ] as const;
    for (const [limit, line] of limits) {
      const narrowed = await bench.output("attenuate", "@t", ...limit);
      const { stdout } = await explain("--token", narrowed, "--", ...FEW);
      expect(stdout).toContain(line);
      expect(stdout).toContain(": 0 of 4 tools are shown");
      expect(stdout).toMatch(/^read_text_file +hidden: the token allows no call$/m);
    }
  });

  test("says which audience a gate must have, and that no argument can name the resources of a token", async () => {
    const env = { PROVISO_TOKEN: await bench.output("attenuate", "@t", "--audience", "files") };
    const named = await bench.run(["mcp", "explain", "--", ...FEW], { env });
    expect(named.stdout).toContain(`The gate's audience must be "files"`);
    const handle = `rh_${"A".repeat(22)}`;
    const rows = async (resource: string) => {
      const narrowed = await bench.output("attenuate", "@t", "--resource", resource);
      return (await explain("--token", narrowed, "--", ...FEW)).stdout;
    };
    const dead = "shown, but every call is refused: no argument can name the token's resources";
    expect(await rows("rh_1")).toContain(`${dead} ("rh_1")`);
    expect(await rows(handle)).toMatch(new RegExp(`^ +an argument names ${handle}$`, "m"));
  });

  test("with --server NAME, reads the operations of the token as NAME/TOOL", async () => {
    await bench.output("mcp", "token", "--op", "files/read_text_file", "-o", "named");
    const { stdout } = await explain("--token", "@named", "--server", "files", "--", ...FEW);
    expect(stdout).toMatch(/^read_text_file +any arguments$/m);
    expect(stdout).toMatch(/^files\/client:roots +refused/m);
  });
});

describe("proviso mcp explain", () => {
  test.each([
    [["--token", "@t"], "no server is named", 2],
    [["--token", "@t", "--upstream", "http://127.0.0.1:1/mcp", "--", "x"], "exclude each other", 2],
    [["--token", "@t", "--upstream", "nowhere"], '"nowhere" is not the address of a server', 2],
    [
      ["--token", "@t", "--upstream", "http://127.0.0.1:1/mcp"],
      "could not reach http://127.0.0.1:1: no agent is at this port",
      6,
    ],
    [["--token", "@t", "--", "no-such-program"], "there is no program no-such-program", 6],
    [["--", "x"], "no token is given", 2],
    [["--token", "@t", "--server", "a/b", "--", "x"], '--server "a/b" cannot be the name', 2],
    [["--token", "@none", "--", "x"], "could not read none", 6],
  ] as const)("fails for %j with the message: %s", async (words, message, code) => {
    const { status, stdout, stderr } = await explain(...words);
    expect(stderr).toContain(message);
    expect(stdout).toBe("");
    expect(status).toBe(code);
  });
});

test("the hint of a usage error of mcp explain names proviso mcp explain --help", async () => {
  const { stderr } = await bench.run(["mcp", "explain", "--json", "--zzzz"]);
  expect(JSON.parse(stderr)).toMatchObject({
    error: { hint: "proviso mcp explain --help shows how it is used" },
  });
});
