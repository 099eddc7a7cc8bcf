import type { Command } from "commander";
import { formatTime } from "../../src/caveats/time.js";
import type { Keyring } from "../../src/issuer/keyring.js";
import type { RevocationEntry } from "../../src/revocation/entry.js";
import { readKeyringFile, replaceKeyringFile } from "../../src/stores/keyring-file.js";
import type { Context } from "../context.js";
import { usageError } from "../exit.js";
import { addDatabase, findHome, type HomeChoice, withRevocations } from "../home.js";
import { readKeys, withKeys } from "../imported-keys.js";
import { printAnswer, printable, printData, say } from "../output.js";
import { giveServiceKeys } from "../service-keys.js";
import { unknownKey } from "../unknown-name.js";
import { act, addExamples, type GlobalOptions, listsAlone, toText } from "../verb.js";

const OLDEST = "$(proviso keys list | awk '/verifies/ { print $1; exit }')";

interface ImportOptions extends HomeChoice {
  readonly mint?: boolean;
}

export function define(program: Command, context: Context): void {
  const keys = program
    .command("keys")
    .summary("list, rotate, retire, export or import root keys, or derive those of a service")
    .helpCommand(false)
    .description(
      "The keyring: one key mints new tokens, older ones still verify theirs. Without a command, lists them.",
    );
  listsAlone(keys, context, show);
  const list = keys
    .command("list")
    .description("Lists the keys, oldest first; shows no secret.")
    .action(act(context, show));
  const rotate = keys
    .command("rotate")
    .description("Makes a new key that mints from now on; the present ones go on verifying.")
    .action(act(context, renew));
  const retire = keys
    .command("retire")
    .description(
      "Removes a key for good and revokes it: every token made under it is refused from then on.",
    )
    .argument("<kid>", "the key's id, from keys list")
    .action(act(context, remove));
  const exported = keys
    .command("export")
    .description("Prints a key with its secret as a JWK. Any holder of it can mint.")
    .argument("<kid>", "the key's id, from keys list")
    .action(act(context, reveal));
  const imported = keys
    .command("import")
    .description(
      "Adds a key that keys export printed, so that tokens made under it verify again, on this machine " +
        "or a second one. It mints only with --mint. A key that was retired stays revoked.",
    )
    .argument("<file>", "the file with the key, a JWK or a JWK Set; - for standard input")
    .option("--mint", "mint under it from now on; the present ones go on verifying")
    .action(act(context, bring));
  const service = keys
    .command("service")
    .description(
      "Derives the keys for one service, and gives them as a JWK Set. With it the service checks and " +
        "narrows what is minted for it by mint --service, and mints for itself alone. After keys rotate, " +
        "renew its file.",
    )
    .argument("<service>", "the service's name, as it stands in the audience of tokens")
    .option(
      "-o, --output <file>",
      "write them to a file, mode 0600: a new one, or one with keys of this service",
      toText,
    )
    .option("--reveal", "show them also where the output is a terminal")
    .action(act(context, giveServiceKeys));
  for (const verb of [rotate, retire, imported]) addDatabase(verb);
  const listing = ["proviso keys list"];
  const rotation = ["proviso keys rotate"];
  const backup = [`proviso keys export "${OLDEST}" > backup.jwk`];
  const retirement = [`proviso keys retire "${OLDEST}"`];
  addExamples(list, listing);
  addExamples(rotate, rotation);
  addExamples(exported, backup);
  const restoring = ["proviso keys import backup.jwk"];
  addExamples(imported, [...restoring, "proviso keys import --mint - < backup.jwk"]);
  addExamples(retire, [...rotation, ...retirement]);
  const derivation = ["proviso keys service documents --output documents.jwks"];
  addExamples(service, derivation);
  addExamples(keys, [
    ...listing,
    ...rotation,
    ...derivation,
    ...backup,
    ...restoring,
    ...retirement,
  ]);
}

function show(context: Context, options: GlobalOptions): void {
  const { files } = findHome(context, options);
  const keyring = readKeyringFile(files.keyring);
  const keys = keyring.list();
  const width = Math.max(...keys.map(({ kid }) => printable(kid).length));
  const lines = keys.map(
    ({ kid, mints, created }) =>
      `${printable(kid).padEnd(width)}  ${mints ? "mints   " : "verifies"}  ${created}`,
  );
  printAnswer(context, options, { keys }, lines);
}

async function renew(context: Context, options: HomeChoice): Promise<void> {
  const keyring = await change(context, options, (present) => present.rotate());
  const { kid } = keyring.minting;
  const line = `${kid} mints from now on; the older keys go on verifying`;
  printAnswer(context, options, { minting: kid, keys: keyring.list() }, [line]);
}

async function remove(context: Context, options: HomeChoice, kid: string): Promise<void> {
  const at = formatTime(Date.now());
  // First revoke the key, in a separate transaction. Services that have the key in memory then refuse its
  // tokens, even if this process dies before it has removed the key from the file.
  await change(context, options, async (present, revoke) => {
    assertRetirable(kid, present);
    await revoke({ kind: "key", id: kid, at, reason: "retired" });
    return present;
  });
  const keyring = await change(context, options, (present) => {
    assertRetirable(kid, present);
    return present.retire(kid);
  });
  const line = `${kid} is gone; every token made under it is refused from now on`;
  printAnswer(context, options, { retired: kid, keys: keyring.list() }, [line]);
}

function assertRetirable(kid: string, present: Keyring): void {
  if (present.list().every((key) => key.kid !== kid)) {
    if (present.find(kid) === undefined) throw unknownKey(kid, present);
    const hint = `proviso revoke --key '${kid}' refuses what was made under it`;
    throw usageError(`${kid} is derived from a root key, so it cannot be retired by itself`, hint);
  }
  if (present.minting.kid !== kid) return;
  const hint = "proviso keys rotate first, then retire it";
  throw usageError(`${kid} is the key that mints, so it cannot be retired yet`, hint);
}

function reveal(context: Context, options: GlobalOptions, kid: string): void {
  const { files } = findHome(context, options);
  const keyring = readKeyringFile(files.keyring);
  const jwk = keyring.exportJwkSet().keys.find((key) => key.kid === kid);
  if (jwk === undefined) throw unknownKey(kid, keyring);
  say(context, "warning: this is the secret key; any party that has it can mint any token");
  printData(context, `${JSON.stringify(jwk)}\n`);
}

async function bring(context: Context, options: ImportOptions, file: string): Promise<void> {
  const keys = readKeys(context, file);
  const minting = keys.length === 1 ? keys[0]?.kid : undefined;
  if (options.mint === true && minting === undefined) {
    throw usageError(
      "--mint takes a file of one key",
      "leave it out, or give the one that is to mint",
    );
  }
  const keyring = await change(context, options, (present) =>
    withKeys(present, keys, options.mint === true ? minting : undefined),
  );
  const kids = keys.map(({ kid }) => kid);
  const role = options.mint === true ? "mints from now on" : "verifies from now on";
  const lines = kids.map((kid) => `${printable(kid)} ${role}`);
  printAnswer(context, options, { imported: kids, keys: keyring.list() }, lines);
}

/** Changes the key file. Other processes that want to change it wait until this change is complete. */
async function change(
  context: Context,
  options: HomeChoice,
  next: (
    present: Keyring,
    revoke: (entry: RevocationEntry) => Promise<void>,
  ) => Keyring | Promise<Keyring>,
): Promise<Keyring> {
  return withRevocations(context, options, (revocations, { keyring }) =>
    revocations.exclusively(async (revoke) => {
      const present = readKeyringFile(keyring);
      const changed = await next(present, revoke);
      if (changed !== present) replaceKeyringFile(keyring, changed, present);
      return changed;
    }),
  );
}
