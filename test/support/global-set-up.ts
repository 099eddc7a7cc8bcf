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

/** The free bytes that a run needs. */
const ENOUGH = 2 ** 31;

/** Permissions for everybody, as in the system's temporary folder, since some tests run programs as the user nobody. */
const SHARED = 0o1777;

/**
 * Before the first test: makes a temporary folder for this run only, which tests and their child processes find as
 * `TMPDIR`. After the last test: fails the run if anything is left in the folder.
 */
export default async function setUp(): Promise<() => void> {
  await bundleChildren();
  const folder = mkdtempSync(join(place(), "proviso-run-"));
  chmodSync(folder, SHARED);
  process.env["TMPDIR"] = folder;
  // Programs such as npm would leave their compile cache in the folder.
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

/**
 * Returns the parent of the temporary folder. If the tests run as root, they start some programs as the user nobody,
 * which must be able to enter the folder.
 */
function place(): string {
  const wanted = process.env["TMPDIR"] ?? memory() ?? tmpdir();
  return process.getuid?.() !== 0 || isOpen(realpathSync(wanted)) ? wanted : "/tmp";
}

/** Returns whether other users may enter a folder, and each folder above it. */
function isOpen(folder: string): boolean {
  if ((statSync(folder).mode & 0o001) === 0) return false;
  return dirname(folder) === folder || isOpen(dirname(folder));
}

/**
 * Returns the folder of a file system in memory that is large enough and allows running programs, if there is one.
 * Databases in this folder need not wait for a disk. The file system keeps the data of killed processes; only a power
 * failure would differ.
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
