import { importKeyring, type Keyring } from "../src/issuer/keyring.js";
import { StorageError } from "../src/storage/storage-error.js";
import {
  createKeyringFile,
  readKeyringFile,
  replaceKeyringFile,
} from "../src/stores/keyring-file.js";
import { absolutePath, type Context } from "./context.js";
import { asUsage, usageError } from "./exit.js";
import { findHome } from "./home.js";
import { printAnswer, printable, printData, quoted, say } from "./output.js";
import type { GlobalOptions } from "./verb.js";

export interface ServiceKeysOptions extends GlobalOptions {
  readonly output?: string;
  readonly reveal?: boolean;
}

/** Derives the keys for one service, and writes them to the destination that the options name. */
export function giveServiceKeys(
  context: Context,
  options: ServiceKeysOptions,
  service: string,
): void {
  const { output, reveal = false } = options;
  const { files } = findHome(context, options);
  const keyring = readKeyringFile(files.keyring);
  const set = asUsage(() => keyring.serviceKeys(service));
  const warning = `this is secret: any party that has it can mint tokens for ${service}, and for no other`;
  if (output !== undefined) {
    const file = absolutePath(context, output);
    const own = importKeyring(set);
    put(file, own);
    const keys = own.list();
    const count = keys.length === 1 ? "one key" : `${keys.length} keys`;
    printAnswer(context, options, { service, file, keys }, [`${printable(file)} has ${count}`]);
    say(context, `warning: ${warning}`);
    return;
  }
  if (context.stdout.isTerminal && !reveal) {
    throw usageError(
      `the keys for ${service} are secret, and this would show them on the terminal`,
      "--output FILE writes them to a file that its owner alone may open; --reveal shows them",
    );
  }
  say(context, `warning: ${warning}`);
  printData(context, `${JSON.stringify(set, undefined, options.json === true ? 0 : 2)}\n`);
}

/**
 * Returns the service to which the keys belong.
 *
 * @param file - The name of the file in messages.
 * @throws CliError if the keys are root keys.
 */
export function assertServiceKeys(file: string, { service }: Keyring): string {
  if (service !== undefined) return service;
  const hint =
    "proviso keys service gives a service its own; with root keys, name their home by --home";
  throw usageError(`${quoted(file)} does not have a service's keys`, hint);
}

/** Creates the key file. An existing file is replaced only if it has keys of the same service. */
function put(file: string, own: Keyring): void {
  try {
    createKeyringFile(file, own);
  } catch (error) {
    if (!(error instanceof StorageError) || error.code !== "key_file_exists") throw error;
    const present = readKeyringFile(file);
    if (present.service !== own.service) throw error;
    replaceKeyringFile(file, own, present);
  }
}
