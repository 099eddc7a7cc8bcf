import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, renameSync } from "node:fs";
import { createRequire } from "node:module";
import { createInterface, type Interface } from "node:readline";
import { fileURLToPath } from "node:url";
import { encodeBase64url } from "../../src/bytes/base64.js";
import { encodeUtf8 } from "../../src/bytes/utf8.js";
import type { MacaroonFormat } from "../../src/macaroon/index.js";

/** The name of a macaroon implementation with which the tests exchange macaroons. */
export type PeerName = "npm-macaroon" | "macaroons.js" | "pymacaroons" | "go" | "libmacaroons";

export interface PeerInfo {
  /** The forms that the driver of the peer reads and writes. */
  readonly formats: readonly MacaroonFormat[];
  /** The command that installs the peer. */
  readonly install: string;
}

/** A running peer. The promise of a call is rejected with the peer's own message if the peer fails. */
export interface Peer {
  create(init: PeerInit): Promise<string>;
  append(macaroon: string, caveat: Bytes): Promise<string>;
  thirdParty(macaroon: string, init: Omit<PeerInit, "format">): Promise<string>;
  bind(root: string, discharge: string): Promise<string>;
  convert(macaroon: string, format: MacaroonFormat): Promise<string>;
  verify(request: PeerVerify): Promise<boolean>;
  /** Concatenates all macaroons in these binary texts. Only Go has this operation. */
  join(macaroons: readonly string[]): Promise<string>;
  close(): Promise<void>;
}

/** A byte string, or a string to be encoded as UTF-8. */
export type Bytes = string | Uint8Array;

interface PeerInit {
  readonly key: Bytes;
  readonly identifier: Bytes;
  readonly location?: string;
  readonly format: MacaroonFormat;
}

interface PeerVerify {
  readonly macaroon: string;
  readonly key: Bytes;
  readonly discharges?: readonly string[];
  /** The first-party caveats that hold. Without this property, all of them hold. */
  readonly satisfied?: readonly Bytes[];
}

const DRIVERS = fileURLToPath(new URL("./drivers/", import.meta.url));
const CACHE = fileURLToPath(new URL("../../node_modules/.cache/proviso-interop/", import.meta.url));
// Debian's Python. Another python3 that comes first in PATH may lack Debian's packages.
const PYTHON = "/usr/bin/python3";
const GO_PATH = "/usr/share/gocode";
const ALL_FORMATS: readonly MacaroonFormat[] = ["v1", "v2", "v1json", "v2json"];

interface PeerDefinition extends PeerInfo {
  readonly installed: () => boolean;
  /** Returns the command that runs the driver. Compiles the driver first if necessary. */
  readonly command: () => readonly [string, ...string[]];
}

const DEFINITIONS: Readonly<Record<PeerName, PeerDefinition>> = {
  "npm-macaroon": {
    formats: ["v1json", "v2json"],
    install: "npm ci",
    installed: () => hasPackage("macaroon"),
    command: () => [process.execPath, `${DRIVERS}npm-macaroon.mjs`],
  },
  "macaroons.js": {
    formats: ["v1"],
    install: "npm ci",
    installed: () => hasPackage("macaroons.js"),
    command: () => [process.execPath, `${DRIVERS}macaroons-js.mjs`],
  },
  pymacaroons: {
    formats: ALL_FORMATS,
    install: "apt-get install python3-pymacaroons python3-nacl",
    installed: () => runs(PYTHON, "-c", "import pymacaroons"),
    command: () => [PYTHON, `${DRIVERS}pymacaroons_driver.py`],
  },
  go: {
    formats: ALL_FORMATS,
    install: "apt-get install golang-go golang-gopkg-macaroon.v2-dev",
    installed: () => runs("go", "version") && existsSync(`${GO_PATH}/src/gopkg.in/macaroon.v2`),
    command: () => [build("go_macaroon.go", (source, out) => ["go", "build", "-o", out, source])],
  },
  libmacaroons: {
    formats: ["v1"],
    install: "apt-get install libmacaroons-dev gcc",
    installed: () => runs("cc", "--version") && existsSync("/usr/include/macaroons.h"),
    command: () => [
      build("libmacaroons_driver.c", (source, out) => ["cc", "-o", out, source, "-lmacaroons"]),
    ],
  },
};

export const PEERS: Readonly<Record<PeerName, PeerInfo>> = DEFINITIONS;

const known = new Map<PeerName, boolean>();

/** Returns whether this machine can start a peer. If it cannot, says once on standard error how to install the peer. */
export function peerInstalled(name: PeerName): boolean {
  const before = known.get(name);
  if (before !== undefined) return before;
  const { installed, install } = DEFINITIONS[name];
  const found = installed();
  known.set(name, found);
  if (!found) {
    process.stderr.write(
      `interop: ${name} is not installed, its tests are skipped; ` +
        `get it with \`${install}\` or run scripts/install-peers.sh\n`,
    );
  }
  return found;
}

/** Starts the driver of an installed peer. The caller must close it. */
export function startPeer(name: PeerName): Peer {
  const [command, ...args] = DEFINITIONS[name].command();
  return new DrivenPeer(spawn(command, args, { stdio: ["pipe", "pipe", "inherit"] }));
}

interface Waiting {
  readonly resolve: (line: string) => void;
  readonly reject: (error: Error) => void;
}

/** A peer behind a driver. Requests go to the driver as JSON lines, and the driver answers in the same order. */
class DrivenPeer implements Peer {
  readonly #child: ChildProcess;
  readonly #lines: Interface;
  readonly #waiting: Waiting[] = [];
  readonly #exited: Promise<void>;

  constructor(child: ChildProcess) {
    if (child.stdout === null) throw new Error("a driver needs a stdout");
    this.#child = child;
    this.#lines = createInterface({ input: child.stdout });
    this.#lines.on("line", (line) => this.#waiting.shift()?.resolve(line));
    this.#exited = new Promise((resolve) => child.once("close", () => resolve()));
    child.once("close", (code, signal) => {
      const error = new Error(`the peer stopped: ${signal ?? code}`);
      for (const one of this.#waiting.splice(0)) one.reject(error);
    });
  }

  create({ format, ...init }: PeerInit): Promise<string> {
    return this.#text({ op: "create", format, ...initFields(init) });
  }

  append(macaroon: string, caveat: Bytes): Promise<string> {
    return this.#text({ op: "append", macaroon, caveat: toBase64(caveat) });
  }

  thirdParty(macaroon: string, init: Omit<PeerInit, "format">): Promise<string> {
    return this.#text({ op: "thirdParty", macaroon, ...initFields(init) });
  }

  bind(root: string, discharge: string): Promise<string> {
    return this.#text({ op: "bind", macaroon: root, discharge });
  }

  convert(macaroon: string, format: MacaroonFormat): Promise<string> {
    return this.#text({ op: "convert", macaroon, format });
  }

  join(macaroons: readonly string[]): Promise<string> {
    return this.#text({ op: "join", macaroons });
  }

  async verify({ macaroon, key, discharges = [], satisfied }: PeerVerify): Promise<boolean> {
    const answer = await this.#ask({
      op: "verify",
      macaroon,
      key: toBase64(key),
      discharges,
      ...(satisfied === undefined ? {} : { satisfied: satisfied.map(toBase64) }),
    });
    if (typeof answer["valid"] !== "boolean") throw new Error("the peer gave no verdict");
    return answer["valid"];
  }

  async close(): Promise<void> {
    this.#child.stdin?.end();
    await this.#exited;
  }

  async #text(request: object): Promise<string> {
    const { text } = await this.#ask(request);
    if (typeof text !== "string") throw new Error("the peer gave no macaroon");
    return text;
  }

  async #ask(request: object): Promise<Record<string, unknown>> {
    const line = await new Promise<string>((resolve, reject) => {
      this.#waiting.push({ resolve, reject });
      // Node's readline, from version 24 on, takes U+2028 and U+2029 for line ends.
      const line = JSON.stringify(request)
        .replace(/\u2028/g, "\\u2028")
        .replace(/\u2029/g, "\\u2029");
      this.#child.stdin?.write(`${line}\n`);
    });
    const answer: Record<string, unknown> = JSON.parse(line);
    if (answer["ok"] !== true) throw new Error(`the peer refused: ${String(answer["error"])}`);
    return answer;
  }
}

function initFields(init: Omit<PeerInit, "format">): Record<string, string> {
  const { key, identifier, location = "" } = init;
  return { key: toBase64(key), identifier: toBase64(identifier), location: toBase64(location) };
}

function toBase64(bytes: Bytes): string {
  return encodeBase64url(typeof bytes === "string" ? encodeUtf8(bytes) : bytes);
}

function hasPackage(name: string): boolean {
  try {
    createRequire(import.meta.url).resolve(name);
    return true;
  } catch {
    return false;
  }
}

function runs(command: string, ...args: string[]): boolean {
  return spawnSync(command, args, { stdio: "ignore" }).status === 0;
}

/** Compiles a driver, unless it has been compiled from the same source before. */
function build(
  file: string,
  compiler: (source: string, out: string) => [string, ...string[]],
): string {
  const source = DRIVERS + file;
  const hash = createHash("sha256").update(readFileSync(source)).digest("hex").slice(0, 16);
  const binary = `${CACHE}${file.replace(/\W/g, "-")}-${hash}`;
  if (existsSync(binary)) return binary;
  mkdirSync(CACHE, { recursive: true });
  // Test files run in parallel. Each compiles to a name of its own, and then renames the file.
  const own = `${binary}.${process.pid}`;
  const [command, ...args] = compiler(source, own);
  const env = { ...process.env, GO111MODULE: "off", GOPATH: GO_PATH };
  const { status, stderr } = spawnSync(command, args, { env, encoding: "utf8" });
  if (status !== 0) throw new Error(`could not compile ${file}: ${stderr}`);
  renameSync(own, binary);
  return binary;
}
