import { mkdirSync } from "node:fs";
import type { Ledger } from "../../src/agent/ledger.js";
import { HomeError } from "../../src/home/home-error.js";
import { openHome } from "../../src/home/open-home.js";
import { createIssuer, type Issuer } from "../../src/issuer/issuer.js";
import { followRevocations } from "../../src/protocols/revocations/follow.js";
import { withoutPassword } from "../../src/storage/postgres.js";
import { openStores, type StoreDatabase } from "../../src/stores/database.js";
import { followKeyringFile } from "../../src/stores/follow-keyring.js";
import { type LedgerOptions, LedgerStore } from "../../src/stores/ledger/ledger-store.js";
import { messageOf } from "../../src/system/error-code.js";
import type { Context } from "../context.js";
import { environmentError } from "../exit.js";
import { homeFor, loadingShown } from "../home.js";
import { warn, warnOfLedger } from "../serve/log.js";
import { type Closing, pruneHourly } from "../serve/opened.js";
import { assertServiceKeys } from "../service-keys.js";
import { shellWord } from "../storage-advice.js";
import type { ForeignIssuer, GateSettings } from "./gate-settings.js";
import { gateIssuer } from "./new-token.js";

/** The issuer by which a gate judges, and the database to which the gate writes. */
export interface GateIssuer {
  readonly issuer: Issuer;
  readonly revocations: { readonly version: number };
  readonly ledger: Ledger;
  readonly database: StoreDatabase;
  /** The name of the gate in the `audience` of tokens. */
  readonly audience: string;
  /** A line for the operator, which names the issuer. */
  readonly note: string;
  /** The command that shows the pins of this gate's database, quoted for a shell. */
  readonly pinsCommand: string;
}

/**
 * Opens the gate's home or, with `--keys`, the keys and the revocation list of an issuer on another machine.
 *
 * @param opened - Receives the functions that close the opened resources.
 * @throws CliError `home_missing`, with the commands that make a home.
 */
export async function openGateIssuer(
  context: Context,
  settings: GateSettings,
  opened: Closing[],
): Promise<GateIssuer> {
  const { keys, retention } = settings;
  const ledger: LedgerOptions = {
    retention,
    onProblem: (problem) => warnOfLedger(context, problem),
  };
  return keys === undefined
    ? openOwn(context, settings, ledger, opened)
    : openForeign(context, keys, settings, ledger, opened);
}

async function openOwn(
  context: Context,
  { home: choice, grant, audience }: GateSettings,
  ledger: LedgerOptions,
  opened: Closing[],
): Promise<GateIssuer> {
  const { folder, database } = homeFor(context, choice);
  const onLoading = loadingShown(context);
  const home = await openHome({ folder, database, ledger, onLoading }).catch(homeFailure);
  opened.push(() => home.close());
  const { revocations } = home;
  const works = [() => revocations.prune(), () => home.ledger.prune()];
  opened.push(pruneHourly(works, (message) => warn(context, message)));
  const issuer = gateIssuer(home, grant);
  const note = `issuer ${issuer.name}, home ${folder}`;
  const pinsCommand = pinsCommandFor(folder, choice.database);
  return { ...home, issuer, audience: audience ?? issuer.name, note, pinsCommand };
}

function pinsCommandFor(home: string, database: string | undefined): string {
  const command = `proviso mcp pins --home ${shellWord(home)}`;
  return database === undefined
    ? command
    : `${command} --database ${shellWord(withoutPassword(database))}`;
}

function homeFailure(error: unknown): never {
  if (!(error instanceof HomeError) || error.code !== "home_missing") throw error;
  const hint =
    "proviso mcp learn or proviso mcp token makes one; --home or PROVISO_HOME names another";
  throw environmentError(error.code, error.message, hint);
}

async function openForeign(
  context: Context,
  { file, name, feed, state }: ForeignIssuer,
  { home: { database: place }, insecure }: GateSettings,
  ledgerOptions: LedgerOptions,
  opened: Closing[],
): Promise<GateIssuer> {
  const keys = followKeyringFile(file);
  const service = assertServiceKeys(file, keys());
  mkdirSync(state, { recursive: true, mode: 0o700 });
  const database = await openStores(
    homeFor(context, { home: state, database: place }).database,
    "create",
  );
  opened.push(() => database.close());
  const ledger = new LedgerStore(database, ledgerOptions);
  opened.push(() => ledger.close());
  opened.push(pruneHourly([() => ledger.prune()], (message) => warn(context, message)));
  const revocations = followRevocations({ url: feed, keys, insecure });
  opened.push(() => revocations.close());
  try {
    await revocations.refresh();
  } catch (error) {
    const why = messageOf(error);
    warn(context, `every call is refused until the revocation list can be read: ${why}`);
  }
  const issuer = createIssuer({ name, keys, revocations, audience: service });
  const note = `issuer ${name}, service ${service}, revocation list ${new URL(feed).origin}`;
  const pinsCommand = pinsCommandFor(state, place);
  return { issuer, revocations, ledger, database, audience: service, note, pinsCommand };
}
