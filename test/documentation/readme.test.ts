import { execFileSync, spawnSync } from "node:child_process";
import { chmodSync, existsSync, readFileSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type DocumentsAgent, startDocumentsAgent } from "../support/documents-agent.js";
import { temporaryFolder } from "../support/temporary-folder.js";

// Runs every console block of the documents, in order and in one folder per document, and compares
// what the commands print with what the document says. In a document, "…" stands for anything.

const root = fileURLToPath(new URL("../..", import.meta.url));
const main = join(root, "dist", "cli", "main.js");

interface Command {
  readonly line: number;
  readonly command: string;
  readonly expected: readonly string[];
}

function commandsIn(document: string): Command[] {
  const commands: { line: number; command: string; expected: string[] }[] = [];
  let inside = false;
  let continued = false;
  for (const [at, text] of document.split("\n").entries()) {
    if (text.startsWith("```")) {
      inside = text === "```console";
      continued = false;
      continue;
    }
    if (!inside) continue;
    const last = commands[commands.length - 1];
    if (text.startsWith("$ "))
      commands.push({ line: at + 1, command: text.slice(2), expected: [] });
    else if (continued && last !== undefined) last.command += `\n${text}`;
    else last?.expected.push(text);
    continued = text.endsWith("\\") && (text.startsWith("$ ") || continued);
  }
  return commands;
}

function pattern(line: string): RegExp {
  const escaped = line.split("…").map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"));
  return new RegExp(`^${escaped.join(".*")}$`);
}

describe.each([
  "README.md",
  "docs/guides/command-line.md",
  "docs/guides/denials.md",
  "docs/guides/operations.md",
])("%s", (name) => {
  let folder = "";
  let env: NodeJS.ProcessEnv = {};
  let agent: DocumentsAgent | undefined;

  beforeAll(async () => {
    if (!existsSync(main))
      throw new Error("run `npm run build` first: dist/cli/main.js is missing");
    folder = temporaryFolder();
    const shim = join(folder, ".bin-proviso");
    execFileSync("mkdir", [shim]);
    writeFileSync(join(shim, "proviso"), `#!/bin/sh\nexec "${process.execPath}" "${main}" "$@"\n`);
    chmodSync(join(shim, "proviso"), 0o755);
    env = {
      ...process.env,
      PATH: `${shim}${delimiter}${process.env["PATH"] ?? ""}`,
      PROVISO_HOME: join(folder, "home"),
      NO_COLOR: "1",
    };
    // What the document says that `npm start` gives.
    agent = await startDocumentsAgent(folder);
    env = { ...env, URL: agent.url, PROVISO_ACCESS_TOKEN: agent.token };
  });

  afterAll(async () => {
    await agent?.close();
  });

  it("shows what its commands really print", () => {
    const commands = commandsIn(readFileSync(join(root, name), "utf8"));
    expect(commands.length).toBeGreaterThan(1);
    for (const { line, command, expected } of commands) {
      const result = spawnSync("sh", ["-c", `${command}\n`], {
        cwd: folder,
        env,
        encoding: "utf8",
      });
      const printed = `${result.stdout}${result.stderr}`.replace(/\n$/, "").split("\n");
      const where = `${name}:${line}: ${command}\n${printed.join("\n")}`;
      expect(printed.length, where).toBe(Math.max(expected.length, 1));
      for (const [at, text] of expected.entries()) {
        expect(printed[at], `${where}\n(line ${at + 1} of the output)`).toMatch(pattern(text));
      }
    }
  });
});
