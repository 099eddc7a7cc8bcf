import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import {
  type CheckTest,
  type DiscoveryTest,
  readVectors,
  type Vector,
  type VerifyTest,
} from "../../cli/vectors/file.js";

/** The folder `spec-vectors/`. */
export const FOLDER: URL = new URL("../../spec-vectors/", import.meta.url);
export const FILES = ["macaroon.json", "check.json", "capability-discovery.json"] as const;
// Debian's Python: the first python3 on the path may not have Debian's packages.
export const PYTHON = "/usr/bin/python3";

export const VECTORS: readonly Vector[] = readVectors(FOLDER);

export const verifyTests: readonly VerifyTest[] = VECTORS.filter(
  ({ file }) => file === "macaroon.json",
).map(({ test }) => test as VerifyTest);

export const checkTests: readonly CheckTest[] = VECTORS.filter(
  ({ file }) => file === "check.json",
).map(({ test }) => test as CheckTest);

export const discoveryVectors: readonly (Vector & { readonly test: DiscoveryTest })[] =
  VECTORS.flatMap((vector) => {
    const { file, test } = vector;
    return file === "capability-discovery.json" ? [{ ...vector, test: test as DiscoveryTest }] : [];
  });

/** Reads a committed file of `spec-vectors/`. */
export function committed(name: string): string {
  return readFileSync(new URL(name, FOLDER), "utf8");
}

/** Returns the tests of `check.json` that concern arguments by operation (docs/spec.md, sections 5.1 to 5.3). */
export function argumentVectors(): readonly Vector[] {
  const { testGroups }: CheckFile = JSON.parse(committed("check.json"));
  const groups = testGroups.filter(({ subject }) =>
    /^(operationConstraints|arguments):/.test(subject),
  );
  const ids = groups.flatMap(({ tests }) => tests.map(({ tcId }) => tcId));
  return VECTORS.filter(({ test }) => ids.includes(test.tcId));
}

interface CheckFile {
  readonly testGroups: readonly {
    readonly subject: string;
    readonly tests: readonly { readonly tcId: number }[];
  }[];
}

export function path(name: string): string {
  return fileURLToPath(new URL(name, FOLDER));
}

/** Returns whether Debian's Python has a module. If not, writes to stderr which package contains the module. */
export function pythonHas(module: string, debianPackage: string): boolean {
  if (spawnSync(PYTHON, ["-c", `import ${module}`], { stdio: "ignore" }).status === 0) return true;
  process.stderr.write(
    `vectors: ${debianPackage} is not installed, its tests are skipped; ` +
      `get it with \`apt-get install ${debianPackage}\` or run scripts/install-peers.sh\n`,
  );
  return false;
}
