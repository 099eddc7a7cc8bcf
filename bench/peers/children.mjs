// Implementations in separate processes, which time themselves: other languages; Biscuit, whose WebAssembly Node 20
// loads only with a flag; and proviso with the hashes of @noble/hashes. A driver in drivers/ reads lines and answers
// each line with one line: `key HEX`; `load COUNT` and that many tokens (answer: the number of the pool); `run POOL
// MILLISECONDS` (answer: nanoseconds per verification). Biscuit makes its own tokens: `make HOPS COUNT`.
import { spawn, spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { SECRET } from "../workload.mjs";

/** @import { Contender } from "../measure.mjs" */
/** @typedef {{ name: string, version: string, verify: (hops: number, tokens: readonly string[], old: readonly string[]) => Promise<{ contender: Contender, bytes?: number }>, close: () => void }} Child */

const DRIVERS = fileURLToPath(new URL("./drivers/", import.meta.url));
// Debian's Python: the first python3 on PATH may lack the packages of Debian.
const PYTHON = "/usr/bin/python3";
const GO_PATH = "/usr/share/gocode";

/** @param {string} command @param {string[]} args */
function runs(command, ...args) {
  return spawnSync(command, args, { stdio: "ignore" }).status === 0;
}

/** @param {string} name */
function debianVersion(name) {
  const { stdout } = spawnSync("dpkg-query", ["-s", name], { encoding: "utf8" });
  return /^Version: (.*)$/m.exec(stdout ?? "")?.[1] ?? "";
}

/** @param {string} folder @param {string[]} command */
function compiled(folder, command) {
  const binary = join(folder, "driver");
  const args = command.map((one) => (one === "OUT" ? binary : one));
  const env = { ...process.env, GO111MODULE: "off", GOPATH: GO_PATH, GOCACHE: join(folder, "go") };
  const { status, stderr } = spawnSync(args[0] ?? "", args.slice(1), { env, encoding: "utf8" });
  if (status !== 0) throw new Error(`cannot compile ${command.join(" ")}: ${stderr}`);
  return [binary];
}

const DEFINITIONS = [
  {
    name: "proviso, the same token again, by @noble/hashes",
    install: "npm ci",
    package: "",
    found: () => true,
    command: () => [process.execPath, `${DRIVERS}plain.mjs`],
  },
  {
    name: "Biscuit (WebAssembly)",
    install: "npm ci",
    package: "",
    makes: true,
    found: () => true,
    command: () => [
      process.execPath,
      "--no-warnings",
      "--experimental-wasm-modules",
      `${DRIVERS}biscuit.mjs`,
    ],
  },
  {
    name: "pymacaroons (Python)",
    install: "apt-get install python3-pymacaroons python3-nacl",
    package: "python3-pymacaroons",
    found: () => runs(PYTHON, "-c", "import pymacaroons"),
    command: () => [PYTHON, `${DRIVERS}pymacaroons_bench.py`],
  },
  {
    name: "macaroon.v2 (Go)",
    install: "apt-get install golang-go golang-gopkg-macaroon.v2-dev",
    package: "golang-gopkg-macaroon.v2-dev",
    found: () => runs("go", "version") && existsSync(`${GO_PATH}/src/gopkg.in/macaroon.v2`),
    command: (/** @type {string} */ folder) =>
      compiled(folder, ["go", "build", "-o", "OUT", `${DRIVERS}go_bench.go`]),
  },
  {
    name: "libmacaroons (C)",
    install: "apt-get install libmacaroons-dev gcc",
    package: "libmacaroons-dev",
    version1: true,
    found: () => runs("cc", "--version") && existsSync("/usr/include/macaroons.h"),
    command: (/** @type {string} */ folder) =>
      compiled(folder, ["cc", "-O2", "-o", "OUT", `${DRIVERS}libmacaroons_bench.c`, "-lmacaroons"]),
  },
];

/** @param {typeof DEFINITIONS[number]} definition @returns {Child} */
function start({ name, command, package: debian, makes, version1 }) {
  const folder = mkdtempSync(join(tmpdir(), "proviso-bench-"));
  const [program = "", ...args] = command(folder);
  const child = spawn(program, args, { stdio: ["pipe", "pipe", "inherit"] });
  /** @type {{ resolve: (line: string) => void, reject: (error: Error) => void }[]} */
  const waiting = [];
  // Biscuit also prints a notice about itself; only numbers are answers.
  createInterface({ input: child.stdout }).on("line", (line) => {
    if (/^[\d.]+(e\+\d+)?$/.test(line)) waiting.shift()?.resolve(line);
  });
  child.once("close", (code) => {
    for (const { reject } of waiting.splice(0)) reject(new Error(`${name} ended: ${code}`));
  });
  /** @param {string} lines @returns {Promise<number>} */
  const ask = async (lines) => {
    const answer = await new Promise((resolve, reject) => {
      waiting.push({ resolve, reject });
      child.stdin.write(`${lines}\n`);
    });
    const value = Number(answer);
    if (!Number.isFinite(value)) throw new Error(`${name} answers ${answer}`);
    return value;
  };
  const keyed = makes ? Promise.resolve(0) : ask(`key ${Buffer.from(SECRET).toString("hex")}`);
  return {
    name,
    version: debian === "" ? "" : debianVersion(debian),
    async verify(hops, tokens, old) {
      await keyed;
      const given = version1 ? old : tokens;
      const made = makes ? `make ${hops} 64` : `load ${given.length}\n${given.join("\n")}`;
      const pool = await ask(made);
      const sample = (/** @type {number} */ milliseconds) => ask(`run ${pool} ${milliseconds}`);
      const bytes = makes ? await ask(`bytes ${pool}`) : undefined;
      return { contender: { name, sample }, bytes };
    },
    close() {
      child.stdin.end();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** Starts each installed implementation, and reports how to install the missing ones. */
export function startChildren() {
  /** @type {Child[]} */
  const children = [];
  /** @type {string[]} */
  const missing = [];
  for (const definition of DEFINITIONS) {
    if (definition.found()) children.push(start(definition));
    else missing.push(`${definition.name}: ${definition.install}`);
  }
  for (const one of missing) console.error(`skipped, not installed: ${one}`);
  return children;
}
