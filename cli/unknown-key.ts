import { nearest } from "../src/caveats/nearest.js";
import type { Keyring } from "../src/issuer/keyring.js";
import { type CliError, usageError } from "./exit.js";

/** A key id that the keyring does not have. */
export function unknownKey(kid: string, keyring: Keyring): CliError {
  if (kid === "") return usageError("the key's id is empty", "proviso keys list shows the ids");
  const near = nearest(
    kid,
    keyring.list().map((key) => key.kid),
  );
  const hint = near === undefined ? "proviso keys list shows them" : `did you mean ${near}?`;
  return usageError(`there is no key ${kid}`, hint);
}
