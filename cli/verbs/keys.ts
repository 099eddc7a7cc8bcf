import type { Command } from "commander";
import { formatTime } from "../../src/caveats/time.js";
import type { Keyring } from "../../src/issuer/keyring.js";
import type { RevocationEntry } from "../../src/revocation/entry.js";
import { readKeyringFile, replaceKeyringFile } from "../../src/stores/keyring-file.js";
import type { Context } from "../context.js";
import { addDatabase } from "../database.js";
import { addExamples } from "../examples.js";
import { usageError } from "../exit.js";
import type { GlobalOptions } from "../global-options.js";
import { findHome, type HomeChoice } from "../home.js";
import { withRevocations } from "../open-home.js";
import { printData, printJson, printLine, say } from "../output.js";
import { printable } from "../printable.js";
import { unknownKey } from "../unknown-key.js";

const OLDEST = "$(proviso keys list | awk '/verifies/ { print $1; exit }')";

export function define(program: Command, context: Context): void {
  const keys = program
    .command("keys")
    .summary("list, rotate, retire or export root keys")
    .helpCommand(false)
    .description("The keyring: one key mints new tokens, older ones still verify theirs.");
  const list = keys
    .command("list")
    .description("Lists the keys, oldest first; shows no secret.")
    .action((_options: object, self: Command) =>
      show(context, self.optsWithGlobals<GlobalOptions>()),
    );
  const rotate = keys
    .command("rotate")
    .description("Makes a new key that mints from now on; the present ones go on verifying.")
    .action((_options: object, self: Command) =>
      renew(context, self.optsWithGlobals<HomeChoice>()),
    );
  const retire = keys
    .command("retire")
    .description(
      "Removes a key for good and revokes it: every token made under it is refused from then on.",
    )
    .argument("<kid>", "the key's id, from keys list")
    .action((kid: string, _options: object, self: Command) =>
      remove(context, kid, self.optsWithGlobals<HomeChoice>()),
    );
  const exported = keys
    .command("export")
    .description("Prints a key with its secret as a JWK. Whoever has it can mint.")
    .argument("<kid>", "the key's id, from keys list")
    .action((kid: string, _options: object, self: Command) =>
      reveal(context, kid, self.optsWithGlobals<GlobalOptions>()),
    );
  for (const verb of [rotate, retire]) addDatabase(verb);
  const listing = ["proviso keys list"];
  const rotation = ["proviso keys rotate"];
  const backup = [`proviso keys export "${OLDEST}" > backup.jwk`];
  const retirement = [`proviso keys retire "${OLDEST}"`];
  addExamples(list, "Examples", listing);
  addExamples(rotate, "Examples", rotation);
  addExamples(exported, "Examples", backup);
  addExamples(retire, "Examples", [...rotation, ...retirement]);
  addExamples(keys, "Examples", [...listing, ...rotation, ...backup, ...retirement]);
}

function show(context: Context, options: GlobalOptions): void {
  const { paths } = findHome(context, options);
  const keyring = readKeyringFile(paths.keyring);
  if (options.json === true) printJson(context, { keys: keyring.list() });
  else printKeys(context, keyring);
}

async function renew(context: Context, options: HomeChoice): Promise<void> {
  const keyring = await change(context, options, (present) => present.rotate());
  const { kid } = keyring.minting;
  if (options.json === true) printJson(context, { minting: kid, keys: keyring.list() });
  else printLine(context, `${kid} mints from now on; the older keys go on verifying`);
}

async function remove(context: Context, kid: string, options: HomeChoice): Promise<void> {
  const at = formatTime(Date.now());
  // Entered into the list first, and on its own: services that have the key in memory refuse its
  // tokens from then on, also if this process dies before the key is gone from the file.
  await change(context, options, async (present, revoke) => {
    assertRetirable(kid, present);
    await revoke({ kind: "key", id: kid, at, reason: "retired" });
    return present;
  });
  const keyring = await change(context, options, (present) => {
    assertRetirable(kid, present);
    return present.retire(kid);
  });
  if (options.json === true) printJson(context, { retired: kid, keys: keyring.list() });
  else printLine(context, `${kid} is gone; every token made under it is refused from now on`);
}

function assertRetirable(kid: string, present: Keyring): void {
  if (present.find(kid) === undefined) throw unknownKey(kid, present);
  if (present.minting.kid !== kid) return;
  throw usageError(
    `${kid} is the key that mints, so it cannot be retired yet`,
    "proviso keys rotate first, then retire it",
  );
}

function reveal(context: Context, kid: string, options: GlobalOptions): void {
  const { paths } = findHome(context, options);
  const keyring = readKeyringFile(paths.keyring);
  const jwk = keyring.exportJwkSet().keys.find((key) => key.kid === kid);
  if (jwk === undefined) throw unknownKey(kid, keyring);
  say(context, "warning: this is the secret key; whoever has it can mint any token");
  printData(context, `${JSON.stringify(jwk)}\n`);
}

/** Changes the key file with every other process that would change it waiting. */
async function change(
  context: Context,
  options: HomeChoice,
  next: (
    present: Keyring,
    revoke: (entry: RevocationEntry) => Promise<void>,
  ) => Keyring | Promise<Keyring>,
): Promise<Keyring> {
  const { paths } = findHome(context, options);
  return withRevocations(paths, (revocations) =>
    revocations.exclusively(async (revoke) => {
      const present = readKeyringFile(paths.keyring);
      const changed = await next(present, revoke);
      if (changed !== present) replaceKeyringFile(paths.keyring, changed, present);
      return changed;
    }),
  );
}

function printKeys(context: Context, keyring: Keyring): void {
  const keys = keyring.list();
  const width = Math.max(...keys.map(({ kid }) => printable(kid).length));
  for (const { kid, mints, created } of keys) {
    printLine(
      context,
      `${printable(kid).padEnd(width)}  ${mints ? "mints   " : "verifies"}  ${created}`,
    );
  }
}
