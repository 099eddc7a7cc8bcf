import {
  chmodSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statfsSync,
  statSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { bundleChildren } from "./children.js";

/** Bytes that a run has room in. */
const ENOUGH = 2 ** 31;

/** Anybody may write here, as in the system's own: some tests run programs as nobody. */
const SHARED = 0o1777;

/**
 * Before the first test: makes a temporary folder for this run alone, which tests and the programs that they start
 * find as `TMPDIR`.
 * After the last: fails the run if anything is left in it.
 */
export default async function setUp(): Promise<() => void> {
  await bundleChildren();
  const folder = mkdtempSync(join(place(), "proviso-run-"));
  chmodSync(folder, SHARED);
  process.env["TMPDIR"] = folder;
  // Programs such as npm would keep what they compile there.
  process.env["NODE_DISABLE_COMPILE_CACHE"] = "1";
  return () => {
    const left = readdirSync(folder, { recursive: true }).map(String).sort();
    rmSync(folder, { recursive: true, force: true });
    if (left.length === 0) return;
    process.exitCode = 1;
    const some = left.slice(0, 20).join("\n  ");
    throw new Error(`the tests left ${left.length} files and folders behind:\n  ${some}`);
  };
}

/** Where the folder is made. Programs that root runs as nobody cannot enter a folder that is root's alone. */
function place(): string {
  const wanted = process.env["TMPDIR"] ?? memory() ?? tmpdir();
  return process.getuid?.() !== 0 || isOpen(realpathSync(wanted)) ? wanted : "/tmp";
}

/** Whether other users may enter a folder, and each folder above it. */
function isOpen(folder: string): boolean {
  if ((statSync(folder).mode & 0o001) === 0) return false;
  return dirname(folder) === folder || isOpen(dirname(folder));
}

/**
 * A file system in memory, if there is one that is large enough and runs programs: databases there wait for
 * no disk. What a killed process has written stays there too; only a power cut would be another matter.
 */
function memory(): string | undefined {
  const folder = "/dev/shm";
  try {
    const mounts = readFileSync("/proc/mounts", "utf8").split("\n");
    const [, , type, options = ""] =
      mounts.find((line) => line.includes(` ${folder} `))?.split(" ") ?? [];
    const { bavail, bsize } = statfsSync(folder);
    const fits = type === "tmpfs" && !options.includes("noexec") && bavail * bsize >= ENOUGH;
    return fits ? folder : undefined;
  } catch {
    return undefined;
  }
}
