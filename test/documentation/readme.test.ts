import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Bench } from "../cli/run.js";
import { Shell } from "../cli/shell.js";
import { type DocumentsAgent, startDocumentsAgent } from "../support/documents-agent.js";
import { temporaryFolder } from "../support/temporary-folder.js";

// Runs every console block of the documents in order, and compares the output with the document. Each document
// has one folder. "…" in a document matches anything.

const root = fileURLToPath(new URL("../..", import.meta.url));

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
  "docs/guides/limit-arguments.md",
  "docs/guides/operations.md",
])("the page %s", (name) => {
  const bench = new Bench();
  const shell = new Shell(bench);
  const commands = commandsIn(readFileSync(join(root, name), "utf8"));
  let env: { readonly [name: string]: string } = { NO_COLOR: "1" };
  let agent: DocumentsAgent | undefined;

  beforeAll(async () => {
    if (!commands.some(({ command }) => command.includes("$URL"))) return;
    // These variables have the values that `npm start` prints in the document.
    agent = await startDocumentsAgent(temporaryFolder());
    env = { ...env, URL: agent.url, PROVISO_ACCESS_TOKEN: agent.token };
  });

  afterAll(async () => {
    await agent?.close();
  });

  it("shows what its commands print now", async () => {
    expect(commands.length).toBeGreaterThan(1);
    for (const { line, command, expected } of commands) {
      const { stdout, stderr } = await shell.run("sh", ["-c", `${command}\n`], { env });
      const printed = `${stdout}${stderr}`.replace(/\n$/, "").split("\n");
      const where = `${name}:${line}: ${command}\n${printed.join("\n")}`;
      expect(printed.length, where).toBe(Math.max(expected.length, 1));
      for (const [at, text] of expected.entries()) {
        expect(printed[at], `${where}\n(line ${at + 1} of the output)`).toMatch(pattern(text));
      }
    }
  });
});
