import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { readVectors, type Vector } from "../../cli/vectors/file.js";
import { Program } from "../../cli/vectors/program.js";

// Debian's Python. Another python3 that comes first in PATH may lack Debian's packages.
const PYTHON = "/usr/bin/python3";
const TIMEOUT = 5000;

export type PeerName = "npm macaroon" | "pymacaroons";

export interface Peer {
  readonly name: PeerName;
  /** The command that installs the peer. */
  readonly install: string;
  /** Returns the version; `undefined` if the peer is not installed. */
  version(): string | undefined;
  command(folder: URL): readonly [string, ...string[]];
}

/** The way in which a peer's verdict differs from the specification's. */
export type Kind = "accepts" | "rejects" | "crashes" | "hangs" | "not supported";

export interface Difference {
  readonly kind: Kind;
  readonly vector: Vector;
  /** The peer's answer, or the reason why there is none. */
  readonly said: string;
}

export const PEERS: readonly Peer[] = [
  {
    name: "npm macaroon",
    install: "npm ci",
    version: () => {
      try {
        const path = createRequire(import.meta.url).resolve("macaroon/package.json");
        return versionIn(readFileSync(path, "utf8"));
      } catch {
        return undefined;
      }
    },
    command: (folder) => [process.execPath, new URL("peers/npm-macaroon.mjs", folder).pathname],
  },
  {
    name: "pymacaroons",
    install: "apt-get install python3-pymacaroons",
    version: () => {
      const script = "import pymacaroons; print(pymacaroons.__version__)";
      const { status, stdout } = spawnSync(PYTHON, ["-c", script], { encoding: "utf8" });
      return status === 0 ? stdout.trim() : undefined;
    },
    command: (folder) => [PYTHON, new URL("peers/pymacaroons_adapter.py", folder).pathname],
  },
];

// A token that is too large for the vector files: it contains a number of a megabyte.
const ENDLESS: Vector = {
  file: "macaroon.json",
  subject: "v2 binary form",
  op: "verify",
  test: {
    tcId: 0,
    comment: "a length that goes on for a megabyte",
    flags: [],
    token: "",
    result: "invalid",
    code: "too_large",
  },
  request: {
    id: 0,
    protocol: 2,
    op: "verify",
    key: "",
    token: Buffer.concat([Buffer.of(2, 2), Buffer.alloc(2 ** 20, 0xff)]).toString("base64url"),
  },
};

function versionIn(text: string): string {
  const content: { readonly version: string } = JSON.parse(text);
  return content.version;
}

/**
 * Runs the tests of `macaroon.json` with a peer. Returns the tests with another verdict than the
 * specification's.
 *
 * @param folder - The folder `spec-vectors/`.
 */
export async function differencesOf(peer: Peer, folder: URL): Promise<Difference[]> {
  const options = { timeout: TIMEOUT, faultsInARow: Number.POSITIVE_INFINITY };
  const program = new Program(peer.command(folder), options);
  const found: Difference[] = [];
  try {
    const vectors = readVectors(folder).filter(({ file }) => file === "macaroon.json");
    for (const vector of [...vectors, ENDLESS]) {
      const difference = compare(vector, await program.ask(vector.request));
      if (difference !== undefined) found.push({ vector, ...difference });
    }
  } finally {
    await program.close();
  }
  return found;
}

function compare(
  { test }: Vector,
  answer: Awaited<ReturnType<Program["ask"]>>,
): { kind: Kind; said: string } | undefined {
  if (answer.kind === "silent") return { kind: "hangs", said: answer.message };
  if (answer.kind !== "answer") return { kind: "crashes", said: answer.message };
  const { value } = answer;
  if (typeof value["unsupported"] === "string") {
    return { kind: "not supported", said: value["unsupported"] };
  }
  const said = String(value["code"] ?? value["result"]);
  if (value["result"] === "valid" && test.result === "invalid") return { kind: "accepts", said };
  if (value["result"] === "invalid" && test.result === "valid") return { kind: "rejects", said };
  // The verdict is right, but the peer refused the token only because its stack overflowed.
  return /^RecursionError|Maximum call stack/.test(said) ? { kind: "crashes", said } : undefined;
}
