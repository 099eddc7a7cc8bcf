import { Parties, type PartiesOptions } from "./parties.js";

/**
 * Creates the {@link Parties} of an installation: hosts, their agents and grants, and people's approvals.
 *
 * @throws TypeError naming the option or setting that is wrong, such as `settings.defaults[1]`.
 *
 * @example
 * ```ts
 * import { mkdtempSync } from "node:fs";
 * import { tmpdir } from "node:os";
 * import { join } from "node:path";
 * import { createRevocationList } from "proviso/issuer";
 * import { createParties } from "proviso/parties";
 * import { createStores, openParties } from "proviso/stores";
 *
 * const database = await createStores(join(mkdtempSync(join(tmpdir(), "proviso-")), "proviso.db"));
 * const parties = createParties({
 *   store: openParties(database),
 *   revocations: createRevocationList(),
 * });
 *
 * const made = await parties.createHost({ principal: "alice", name: "Laptop" });
 * made.ok && made.host.status; // => "enrolling"
 * const token = made.ok ? made.enrolmentToken ?? "" : "";
 * const key = { kty: "OKP", crv: "Ed25519", x: "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo" };
 * const thumbprint = "kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k";
 * const enrolled = await parties.enrollHost({ token, key, thumbprint, proven: true });
 * enrolled.ok && enrolled.host.status; // => "active"
 * await database.close();
 * ```
 */
export function createParties(options: PartiesOptions): Parties {
  return new Parties(options);
}
