/**
 * Opens and creates homes. A home is the folder of one issuer: `config.json` with its name, `keyring.json` with
 * its root keys, and `proviso.db` with all stored data.
 *
 * @module proviso/home
 */
export { createHome, type NewHome } from "./create-home.js";
export type { HomeGrant } from "./home-config.js";
export { HomeError, type HomeErrorCode } from "./home-error.js";
export type { HomeFiles } from "./home-files.js";
export { type Home, type HomeOptions, openHome } from "./open-home.js";
