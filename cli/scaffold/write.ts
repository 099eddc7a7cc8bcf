import {
  existsSync,
  mkdirSync,
  readdirSync,
  renameSync,
  rmdirSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { basename, dirname, join, relative, sep } from "node:path";
import { fileURLToPath } from "node:url";
import { encodeBase64url } from "../../src/bytes/base64.js";
import { randomBytes } from "../../src/bytes/random.js";
import { createHome } from "../../src/home/create-home.js";
import {
  createPrivateFile,
  inPlaceOf,
  syncDirectoryOf,
  temporaryName,
} from "../../src/storage/new-file.js";
import { errorCode, isErrno, reasonFor } from "../../src/system/error-code.js";
import { CliError, EXIT, environmentError } from "../exit.js";
import { printable } from "../output.js";
import { packageFile } from "../package-file.js";
import { agentFiles, HOME_FOLDER } from "./agent.js";

const TOKEN_BYTES = 24;

/**
 * Writes a new agent with its home. The files are first written to another folder and then moved. If anything
 * fails, `folder` has a complete agent or nothing.
 *
 * @param folder - An absolute path. An empty folder may exist there, and is kept, since a shell may have it as
 *   its working folder.
 * @param database - A path or a PostgreSQL URL; `undefined` for a database in the home.
 * @returns The id of the root key.
 * @throws CliError `folder_in_use` or `agent_unwritable`.
 * @throws HomeError or StorageError if the home cannot be made.
 */
export async function writeAgent(
  folder: string,
  database?: string,
): Promise<{ readonly kid: string }> {
  const isNew = !existsSync(folder);
  if (!isNew) assertEmpty(folder);
  const building = temporaryName(isNew ? folder : join(folder, "agent"));
  makeFolder(folder, building);
  try {
    const name = basename(folder) || "agent";
    const accessToken = encodeBase64url(randomBytes(TOKEN_BYTES));
    for (const file of agentFiles({ name, schema: schemaFrom(folder), accessToken })) {
      const path = join(building, file.name);
      if (file.isPrivate === true) createPrivateFile(path, file.text);
      else writeFileSync(path, file.text, { flag: "wx" });
    }
    const keyring = await createHome({
      folder: join(building, HOME_FOLDER),
      issuer: name,
      database,
    });
    if (isNew) renameSync(building, folder);
    else moveInto(folder, building);
    syncDirectoryOf(folder);
    return { kid: keyring.minting.kid };
  } catch (error) {
    throw failureOf(inPlaceOf(building, folder, error), folder);
  } finally {
    rmSync(building, { recursive: true, force: true });
  }
}

function makeFolder(folder: string, building: string): void {
  try {
    mkdirSync(dirname(building), { recursive: true });
    mkdirSync(building);
  } catch (error) {
    throw failureOf(inPlaceOf(building, folder, error), folder);
  }
}

function failureOf(error: unknown, folder: string): unknown {
  return isErrno(error) ? unwritable(folder, error) : error;
}

/** Returns the path from the agent's folder to the JSON Schema of the installed package. Editors read the schema. */
function schemaFrom(folder: string): string {
  const schema = fileURLToPath(packageFile("dist/schemas/agent-config.schema.json"));
  return relative(folder, schema).split(sep).join("/");
}

function moveInto(folder: string, building: string): void {
  const moved: string[] = [];
  // Another process may have written to the folder in the meantime.
  assertEmpty(folder, basename(building));
  try {
    for (const name of readdirSync(building)) {
      renameSync(join(building, name), join(folder, name));
      moved.push(name);
    }
    rmdirSync(building);
  } catch (error) {
    for (const name of moved) rmSync(join(folder, name), { recursive: true, force: true });
    throw error;
  }
}

/** @param own - A name in the folder that may exist. */
function assertEmpty(folder: string, own?: string): void {
  let names: readonly string[];
  try {
    names = readdirSync(folder).filter((name) => name !== own);
  } catch (error) {
    throw failureOf(error, folder);
  }
  if (names.length === 0) return;
  const first = names.slice(0, 3).map(printable).join(", ");
  throw new CliError({
    code: "folder_in_use",
    message: `${printable(folder)} is not empty: ${first}${names.length > 3 ? ", ..." : ""}`,
    exitCode: EXIT.environment,
    hint: "name a folder that is empty or not there yet",
  });
}

function unwritable(folder: string, error: NodeJS.ErrnoException): CliError {
  const message = `could not make an agent at ${printable(folder)}: ${reasonFor(errorCode(error), "write")}`;
  const hint = "check the path, its permissions and the space on the disk";
  return environmentError("agent_unwritable", message, hint);
}
