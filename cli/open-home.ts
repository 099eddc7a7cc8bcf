import { createIssuer, type Issuer } from "../src/issuer/issuer.js";
import type { Keyring } from "../src/issuer/keyring.js";
import { openStores, type StoreDatabase } from "../src/stores/database.js";
import { readKeyringFile } from "../src/stores/keyring-file.js";
import { openRevocations } from "../src/stores/revocations/open-revocations.js";
import type { RevocationStore } from "../src/stores/revocations/revocation-store.js";
import type { Context } from "./context.js";
import { findHome, type HomeChoice, type HomeConfig, type HomePaths } from "./home.js";

/** Everything that minting, checking and revoking need. */
export interface OpenHome {
  readonly paths: HomePaths;
  readonly config: HomeConfig;
  readonly keys: Keyring;
  readonly revocations: RevocationStore;
  readonly issuer: Issuer;
}

/** Opens the home, hands it to `use`, and closes its database whatever happens. */
export async function withHome<T>(
  context: Context,
  options: HomeChoice,
  use: (home: OpenHome) => T | Promise<T>,
): Promise<T> {
  const { paths, config } = findHome(context, options);
  const keys = readKeyringFile(paths.keyring);
  return withRevocations(paths, (revocations) => {
    const { issuer: name, ...others } = config;
    const issuer = createIssuer({ name, keys, revocations, ...others });
    return use({ paths, config, keys, revocations, issuer });
  });
}

/** Opens the revocations of a home, hands them to `use`, and closes the database whatever happens. */
export function withRevocations<T>(
  paths: HomePaths,
  use: (revocations: RevocationStore) => T | Promise<T>,
): Promise<T> {
  return withStores(paths, async (database) => use(await openRevocations(database)));
}

/** Opens the database of a home, hands it to `use`, and closes it whatever happens. */
export async function withStores<T>(
  paths: HomePaths,
  use: (database: StoreDatabase) => Promise<T>,
): Promise<T> {
  const database = await openStores(paths.database);
  try {
    return await use(database);
  } finally {
    await database.close();
  }
}
