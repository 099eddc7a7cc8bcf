import type { PartyStore } from "../agent/parties/store.js";
import { assertMembers } from "../checks/members.js";
import type { Grant } from "../issuer/grant.js";
import { createIssuer, type Issuer } from "../issuer/issuer.js";
import type { IssuerOptions } from "../issuer/issuer-options.js";
import type { Keyring } from "../issuer/keyring.js";
import { StorageError } from "../storage/storage-error.js";
import { openStores, type StoreDatabase } from "../stores/database.js";
import { followKeyringFile } from "../stores/follow-keyring.js";
import { type LedgerOptions, LedgerStore } from "../stores/ledger/ledger-store.js";
import { openParties } from "../stores/parties/party-store.js";
import { ResourceNumberStore } from "../stores/resource-numbers.js";
import {
  openRevocations,
  type RevocationStoreOptions,
} from "../stores/revocations/open-revocations.js";
import type { RevocationStore } from "../stores/revocations/revocation-store.js";
import { grantDifferences, type HomeConfig } from "./home-config.js";
import { type HomeFiles, homeFiles, readHome } from "./home-files.js";

/** The home to open, and settings that are not stored in it. */
export interface HomeOptions {
  /** A folder made by {@link createHome} or `proviso init`. */
  readonly folder: string;
  /** The path of the database, or a PostgreSQL address; `proviso.db` in the folder unless given. */
  readonly database?: string | undefined;
  /**
   * The grants that the issuing agent offers; by default, the grants listed in the home. If the home lists grants,
   * ids and operations must be the same.
   */
  readonly grants?: readonly Grant[] | undefined;
  /** Longest lifetime of a capability in seconds; at most that of the home, which is the default. */
  readonly maxLifetime?: number | undefined;
  /** This service's name in `audience`, for invocations without an `audience`. */
  readonly audience?: string | undefined;
  readonly ledger?: LedgerOptions | undefined;
  /** The refresh interval and the age limit of the revocation list; the defaults are those of `openRevocations`. */
  readonly revocations?: Pick<RevocationStoreOptions, "refreshEvery" | "staleAfter"> | undefined;
  /** Called while the revocations are read, with the fraction read, from 0 to 1. */
  readonly onLoading?: ((part: number) => void) | undefined;
  /** The limits of the issuer's cache of verified tokens; `false` disables the cache. */
  readonly cache?: IssuerOptions["cache"];
}

/** An open home. Its parts share one database, which is closed with the home. */
export interface Home {
  readonly files: HomeFiles;
  /** Mints, authorizes and revokes with the home's current keys. */
  readonly issuer: Issuer;
  /**
   * Returns the current keyring in the key file.
   *
   * @throws StorageError if the file cannot be read.
   */
  readonly keys: () => Keyring;
  readonly revocations: RevocationStore;
  readonly ledger: LedgerStore;
  readonly resourceNumbers: ResourceNumberStore;
  /** Hosts, agents, their grants, and approvals. */
  readonly partyStore: PartyStore;
  /**
   * The database, for stores that a home does not open, such as `openTaskStore(home.database)`. Close these stores
   * before the home.
   */
  readonly database: StoreDatabase;
  /**
   * Returns the problems that stop an agent from working: `disk_nearly_full`, `revocation_stale`, or the code
   * of a StorageError of the database or the key file, such as `store_read_only` or `key_file_missing`; empty
   * if there are none.
   */
  readonly problems: () => Promise<readonly string[]>;
  /** Writes pending ledger events and closes the database. */
  close(): Promise<void>;
}

const OPTIONS = [
  "folder",
  "database",
  "grants",
  "maxLifetime",
  "audience",
  "ledger",
  "revocations",
  "onLoading",
  "cache",
];

/**
 * Opens a home: an issuer with its keys, revocations, ledger and resource numbers. Several processes may open the
 * same home; revocations and new keys made by one process take effect in all of them.
 *
 * @throws TypeError naming the option that is wrong.
 * @throws HomeError `home_missing`, `home_not_folder`, `home_incomplete`, `home_unreadable` or `config_malformed`.
 * @throws StorageError if the key file or the database cannot be used.
 *
 * @example
 * ```ts
 * import { mkdtempSync } from "node:fs";
 * import { tmpdir } from "node:os";
 * import { join } from "node:path";
 * import { createHome, openHome } from "proviso/home";
 *
 * const folder = join(mkdtempSync(join(tmpdir(), "proviso-")), "home");
 * await createHome({ folder, issuer: "documents-agent" });
 *
 * const home = await openHome({ folder });
 * const { token, id } = home.issuer.mint({ grant: "documents:read", operations: ["retrieve"] });
 * const invocation = { grant: "documents:read", operation: "retrieve" };
 * home.issuer.authorize(token, invocation).allowed; // => true
 *
 * const revoked = home.issuer.revocationOf(token);
 * if (revoked.ok) await home.revocations.add(revoked.entry);
 * const refused = home.issuer.authorize(token, invocation);
 * refused.allowed ? "" : refused.denials[0].code; // => "revoked"
 * await home.close();
 * ```
 */
export async function openHome(options: HomeOptions): Promise<Home> {
  assertMembers(options, OPTIONS, "options");
  const { revocations: following = {}, onLoading } = options;
  assertMembers(following, ["refreshEvery", "staleAfter"], "options.revocations");
  const files = homeFiles(options.folder, options.database);
  const issued = issuerOptions(options, readHome(files), files.config);
  const keys = followKeyringFile(files.keyring);
  const database = await openStores(files.database);
  try {
    const revocations = await openRevocations(database, { ...following, onLoading });
    const issuer = createIssuer({ ...issued, keys, revocations });
    const ledger = new LedgerStore(database, options.ledger);
    return {
      files,
      issuer,
      keys,
      revocations,
      ledger,
      database,
      resourceNumbers: new ResourceNumberStore(database),
      partyStore: openParties(database, { retention: options.ledger?.retention }),
      problems: async () => [
        ...[await database.problem()].filter((code) => code !== undefined),
        ...((await database.hasRoom()) ? [] : ["disk_nearly_full"]),
        ...(revocations.isCurrent() ? [] : ["revocation_stale"]),
        ...keyProblems(keys),
      ],
      close: () => ledger.close().finally(() => database.close()),
    };
  } catch (error) {
    await database.close();
    throw error;
  }
}

function issuerOptions(
  { grants, maxLifetime, audience, cache }: HomeOptions,
  config: HomeConfig,
  path: string,
) {
  const [difference] = grants === undefined ? [] : grantDifferences(config, grants, path);
  if (difference !== undefined) throw new TypeError(`grants: ${difference}`);
  if (maxLifetime !== undefined && maxLifetime > config.maxLifetime) {
    throw new TypeError(
      `maxLifetime: the home allows ${config.maxLifetime} seconds at most ("maxLifetime" in ${path})`,
    );
  }
  return {
    name: config.issuer,
    grants: grants ?? config.grants,
    maxLifetime: maxLifetime ?? config.maxLifetime,
    audience,
    cache,
  };
}

function keyProblems(keys: () => Keyring): string[] {
  try {
    keys();
    return [];
  } catch (error) {
    return [error instanceof StorageError ? error.code : "key_file_unreadable"];
  }
}
