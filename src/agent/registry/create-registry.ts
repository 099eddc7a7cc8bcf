import { Registry, type RegistryOptions } from "./registry.js";

/**
 * A registry of hosts, their agents and what these are granted, with the approvals of people.
 *
 * @throws TypeError naming the option or setting that is wrong, such as `settings.defaults[1]`.
 *
 * @example
 * ```ts
 * import { mkdtempSync } from "node:fs";
 * import { tmpdir } from "node:os";
 * import { join } from "node:path";
 * import { createRevocationList } from "proviso/issuer";
 * import { createRegistry } from "proviso/registry";
 * import { createStores, openRegistry } from "proviso/stores";
 *
 * const database = await createStores(join(mkdtempSync(join(tmpdir(), "proviso-")), "proviso.db"));
 * const registry = createRegistry({
 *   store: openRegistry(database),
 *   revocations: createRevocationList(),
 * });
 *
 * const made = await registry.createHost({ principal: "alice", name: "Laptop" });
 * made.ok && made.host.status; // => "enrolling"
 * const token = made.ok ? made.enrolmentToken ?? "" : "";
 * const key = { kty: "OKP", crv: "Ed25519", x: "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo" };
 * const thumbprint = "kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k";
 * const enrolled = await registry.enrollHost({ token, key, thumbprint, proven: true });
 * enrolled.ok && enrolled.host.status; // => "active"
 * await database.close();
 * ```
 */
export function createRegistry(options: RegistryOptions): Registry {
  return new Registry(options);
}
