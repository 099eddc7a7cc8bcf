import { spawnSync } from "node:child_process";
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { MAIN } from "../support/built.js";
import { connectClient, publishedServer } from "../support/mcp-servers.js";
import { temporaryFolder } from "../support/temporary-folder.js";
import { PACKAGE } from "./doc-comments.js";

// A test follows the instructions of the README, or of the guide, as a reader would. A home folder of the test
// replaces /home/me. An installed server replaces npx, which would use the registry.

interface Block {
  readonly command: string;
  readonly args: readonly string[];
}

/** A reader of one page, with a home folder and programs of its own. */
class Reader {
  readonly me: string = join(temporaryFolder(), "me");
  readonly page: string;
  readonly #bin: string = join(this.me, "bin");

  constructor(page: string) {
    const text = readFileSync(join(PACKAGE, page), "utf8");
    this.page = text.replaceAll("/home/me", this.me);
    mkdirSync(join(this.me, "notes"), { recursive: true });
    mkdirSync(this.#bin);
    writeFileSync(join(this.me, "notes", "plan.txt"), "water the tea\n");
    writeFileSync(join(this.me, "notes", "today.txt"), "nothing\n");
    this.#program("proviso", `exec '${process.execPath}' '${MAIN}' "$@"`);
    const server = publishedServer("@modelcontextprotocol/server-filesystem");
    this.#program("npx", `shift 2; exec ${server.map((word) => `'${word}'`).join(" ")} "$@"`);
  }

  #program(name: string, line: string): void {
    writeFileSync(join(this.#bin, name), `#!/bin/sh\n${line}\n`);
    chmodSync(join(this.#bin, name), 0o755);
  }

  get env(): { readonly [name: string]: string } {
    return { PATH: `${this.#bin}:${process.env["PATH"]}`, HOME: this.me };
  }

  blocks(language: string): readonly string[] {
    const fences = new RegExp(`^\`\`\`${language}\\n([\\s\\S]*?)^\`\`\`$`, "gm");
    return [...this.page.matchAll(fences)].map(([, code = ""]) => code);
  }

  /** Returns the servers in the page's configurations that run `proviso` with this verb. */
  configured(verb: string): readonly Block[] {
    return this.blocks("json").flatMap((code) => {
      const { mcpServers, servers = mcpServers } = JSON.parse(code);
      const { files }: { readonly files?: Block } = servers ?? {};
      return files?.args[1] === verb ? [files] : [];
    });
  }

  /**
   * Runs a host with a server of the configuration, and reads files through it. @returns The host's error
   * output, and each answer.
   */
  async host({ command, args }: Block, paths: readonly string[]) {
    const { client, stderr } = await connectClient([command, ...args], { env: this.env });
    const { tools } = await client.listTools();
    const answers = [];
    for (const path of paths) {
      answers.push(await client.callTool({ name: "read_text_file", arguments: { path } }));
    }
    await client.close();
    return { tools: tools.map(({ name }) => name), answers, stderr: stderr() };
  }

  notes(...names: readonly string[]): readonly string[] {
    return names.map((name) => join(this.me, "notes", name));
  }

  sh(code: string) {
    return spawnSync("sh", ["-ec", code], {
      cwd: this.me,
      encoding: "utf8",
      env: { ...process.env, ...this.env },
    });
  }
}

async function expectGated(reader: Reader, block: Block): Promise<void> {
  const { tools, answers } = await reader.host(block, [...reader.notes("plan.txt"), "/etc/passwd"]);
  const [plan, passwd] = answers;
  expect(tools).toEqual(["read_text_file"]);
  expect(plan).toMatchObject({ structuredContent: { content: "water the tea\n" } });
  expect(passwd?.isError).toBe(true);
  expect(JSON.stringify(passwd?.content)).toContain("must be a plain path under");
}

test("the gate of the README passes the calls that were learned, and refuses other calls", async () => {
  const reader = new Reader("README.md");
  const [gate, ...others] = reader.configured("gate");
  expect(others).toEqual([]);
  if (gate === undefined) throw new Error("the README has no gate");
  const server = gate.args.slice(gate.args.indexOf("--") + 1);
  const [, words = ""] =
    /`proviso (mcp learn .* --)` before the server's command/.exec(reader.page) ?? [];
  const learn = { command: "proviso", args: [...words.split(" "), ...server] };
  await reader.host(learn, reader.notes("plan.txt", "today.txt"));
  await expectGated(reader, gate);
});

test("the blocks of docs/guides/mcp.md, run in order, learn from calls and start a gate that refuses other calls", async () => {
  const reader = new Reader("docs/guides/mcp.md");
  const [learn] = reader.configured("learn");
  expect(learn).toBeDefined();
  if (learn === undefined) return;
  const { stderr } = await reader.host(learn, reader.notes("plan.txt", "today.txt"));
  const printed: Block = JSON.parse(/^\{\n[\s\S]*^\}$/m.exec(stderr)?.[0] ?? "").mcpServers.files;

  const [token = "", explain = "", after = ""] = reader.blocks("sh");
  const explained = reader.sh(`${token}${explain}`);
  expect(explained.stdout, explained.stderr).toContain("1 of 14 tools are shown");
  expect(readFileSync(join(reader.me, ".proviso", "files.request"), "utf8")).toContain(
    `\n--op read_text_file\n--only-args read_text_file:path\n--arg read_text_file:path under ${reader.me}/notes\n`,
  );

  const gates = reader.configured("gate");
  expect(gates).toHaveLength(2);
  for (const gate of gates) expect(gate).toMatchObject(printed);
  await expectGated(reader, printed);

  // The folder is inside the package, so that Node finds its packages.
  const [program = ""] = reader.blocks("js");
  mkdirSync(join(PACKAGE, ".examples"), { recursive: true });
  const folder = mkdtempSync(join(PACKAGE, ".examples", "mcp-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const inherited = program.replace(
    'command: "proviso",',
    'command: "proviso", env: process.env, stderr: "ignore",',
  );
  writeFileSync(join(folder, "agent.mjs"), inherited);
  const agent = reader.sh(`'${process.execPath}' '${join(folder, "agent.mjs")}'`);
  const said = [...program.matchAll(/ \/\/ (.*)$/gm)].map(([, text = ""]) => text);
  expect(
    agent.stdout.split("\n").filter((one) => one !== ""),
    agent.stderr,
  ).toEqual(said);

  const revoked = reader.sh(after);
  expect(revoked.stdout, revoked.stderr).toMatch(/refused .*read_text_file[\s\S]*revoked/i);
  const { answers } = await reader
    .host(printed, reader.notes("plan.txt"))
    .catch((error) => ({ answers: [String(error)] }));
  expect(JSON.stringify(answers)).toContain("revoked");
});
