import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { freePort } from "../support/free-port.js";
import { temporaryFolder } from "../support/temporary-folder.js";

// A new user has only Node and npm, and pastes the blocks of a guide into a shell or a file without changes.
// The guide installs from the registry.

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
/** Time limit in milliseconds. Installing waits for the registry. */
const SLOW = 300_000;

/** Returns the code blocks of one language in a section of a page. */
function blocks(page: string, language: string, section = ""): readonly string[] {
  const text = readFileSync(page, "utf8");
  const from = section === "" ? 0 : text.indexOf(`\n## ${section}\n`);
  const end = section === "" ? -1 : text.indexOf("\n## ", from + 1);
  const part = text.slice(from, end === -1 ? undefined : end);
  const found = part.matchAll(new RegExp(`^\`\`\`${language}\\n([\\s\\S]*?)^\`\`\`$`, "gm"));
  return [...found].map(([, code = ""]) => code);
}

const user = temporaryFolder();
const work = join(user, "work");

/** Starts the shell of the user in a folder. */
function shell(lines: string, cwd: string): ChildProcess {
  const prefix = join(user, "global");
  // The shell gets the variables of this machine, so that it reaches the registry, but not those that npm has
  // set for the tests.
  const machine = Object.entries(process.env).filter(([name]) => !name.startsWith("npm_"));
  const env = {
    ...Object.fromEntries(machine),
    HOME: join(user, "home"),
    TMPDIR: join(user, "home"),
    npm_config_prefix: prefix,
    PATH: `${prefix}/bin:${process.env["PATH"]}`,
  };
  return spawn("sh", ["-c", lines], { cwd, env, stdio: ["ignore", "pipe", "pipe"] });
}

/** Runs lines, and returns the output of both streams. The exit code must be that of the last line. */
async function paste(lines: string, cwd: string, status = 0): Promise<string> {
  const child = shell(lines, cwd);
  let said = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding("utf8").on("data", (text: string) => {
      said += text;
    });
  }
  const [code] = await once(child, "close");
  expect(`${code} ${said}`).toMatch(new RegExp(`^${status} `));
  return said;
}

function newFolder(name: string): string {
  const folder = join(user, name);
  mkdirSync(folder);
  return folder;
}

beforeAll(async () => {
  for (const name of ["home", "work", "proviso"]) newFolder(name);
  // In place of the clone that the pages describe, the folder gets packages that are built from the current
  // sources.
  const all = ["--workspaces", "--include-workspace-root", "--ignore-scripts"];
  const into = ["--pack-destination", join(user, "proviso")];
  execFileSync("npm", ["pack", ...all, ...into], { cwd: ROOT, stdio: "pipe" });
  expect(readdirSync(join(user, "proviso"))).toHaveLength(3);
  const [install = ""] = blocks(join(ROOT, "docs/install.md"), "sh", "The command");
  await paste(install, work);
}, SLOW);

describe("the command, installed as docs/install.md says", () => {
  test("has its manual page, passes the vectors and runs the quickstart", async () => {
    expect(existsSync(join(user, "global/share/man/man1/proviso.1"))).toBe(true);
    expect(await paste("proviso vectors check", work)).toMatch(/\d{4} passed, 0 failed/);
    expect(await paste("proviso quickstart", work)).toContain(
      "\nEverything happened as expected.\n",
    );
  });

  test("makes an agent whose README works as written", async () => {
    await paste("proviso init agent my-agent", work);
    const folder = join(work, "my-agent");
    const port = await freePort();
    for (const name of ["README.md", "agent.json"]) {
      const text = readFileSync(join(folder, name), "utf8");
      writeFileSync(join(folder, name), text.replaceAll("8080", String(port)));
    }
    const [serve = "", ask = "", narrow = ""] = blocks(join(folder, "README.md"), "sh");
    const agent = shell(`exec ${serve}`, folder);
    onTestFinished(() => void agent.kill());
    await once(createInterface(agent.stdout ?? process.stdin), "line");
    expect(await paste(ask, folder)).toContain("\nsum: 5\n");
    expect(await paste(narrow, folder, 1)).toContain("constraint_violated  hop 2");
    expect(await paste("node --test", folder)).toMatch(/fail 0/);
  });
});

test("the program of docs/guides/guard.md guards an Express app", { timeout: SLOW }, async () => {
  const folder = newFolder("guarded");
  const page = join(ROOT, "docs/guides/guard.md");
  const [install = "", run = ""] = blocks(page, "sh");
  const [program = ""] = blocks(page, "js");
  await paste(install, folder);
  writeFileSync(join(folder, "guard.mjs"), program);
  expect(await paste(run, folder)).toMatch(/refund[\s\S]*constraint_violated/);
});

test("the programs of the README run with the library and Express alone", {
  timeout: SLOW,
}, async () => {
  const folder = newFolder("programs");
  const [library = ""] = blocks(join(ROOT, "docs/install.md"), "sh", "The library");
  const [first = ""] = library.split("\n# for an agent");
  const [twenty = "", server = ""] = blocks(join(ROOT, "README.md"), "js");
  await paste(first, folder);
  writeFileSync(join(folder, "first.mjs"), `${twenty}console.log(denied);\n`);
  expect(await paste("node first.mjs", folder)).toMatch(/allowed: false[\s\S]*message: '/);
  await paste("npm install express", folder);
  const anyPort = server.replace("app.listen(8080)", "app.listen(0).unref()");
  writeFileSync(join(folder, "server.mjs"), `${twenty}${anyPort}`);
  expect(await paste("node server.mjs", folder)).toMatch(/^curl -H "Proviso-Capability: /);
});
