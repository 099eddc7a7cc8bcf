import { hostname } from "node:os";
import { join } from "node:path";
import {
  MAX_LIFETIME,
  type MintedCapability,
  type MintRequest,
} from "../../src/capability/mint.js";
import { createHome } from "../../src/home/create-home.js";
import { HomeError } from "../../src/home/home-error.js";
import { type HomeFiles, readHome } from "../../src/home/home-files.js";
import type { Home } from "../../src/home/open-home.js";
import { createIssuer, type Issuer } from "../../src/issuer/issuer.js";
import { absolutePath, type Context } from "../context.js";
import { type HomeChoice, homeFor, withHome } from "../home.js";
import { mintCapability } from "../minting.js";
import { assertNoFolder, putFile } from "../private-file.js";

/** The grant of tokens for a gate, unless `--grant` names another grant. */
export const GATE_GRANT = "mcp";

/** Lifetime of a gate's token in seconds, unless `--expires` is given: 30 days, or less if the home allows less. */
const LIFETIME = 30 * 24 * 60 * 60;

export interface NewTokenOptions extends HomeChoice {
  /** The file for the token; `mcp.token` in the home unless given. */
  readonly output?: string | undefined;
}

/** A gate's token, after it has been written to a file. */
export interface NewToken {
  readonly minted: MintedCapability;
  /** The absolute path of the token file. */
  readonly file: string;
  readonly home: HomeFiles;
  /** `true` if there was no home and a new home was made. */
  readonly madeHome: boolean;
}

/**
 * Mints a token for a gate, and writes it to a file of mode 0600. Replaces the contents of the file. Makes a home if
 * there is none.
 *
 * @param request - Without `expires`, the token lives for 30 days, or less if the home allows less.
 * @throws CliError if the request is not valid, or the file cannot be written.
 */
export async function writeNewToken(
  context: Context,
  options: NewTokenOptions,
  request: MintRequest,
): Promise<NewToken> {
  const { output } = options;
  const home = homeFor(context, options);
  const file =
    output === undefined ? join(home.folder, "mcp.token") : absolutePath(context, output);
  assertNoFolder(file);
  const madeHome = await makeHome(home);
  const minted = await mintForGate(context, options, request);
  await putFile(file, `${minted.token}\n`);
  return { minted, file, home, madeHome };
}

/**
 * Mints a token for a gate, without writing it to a file.
 *
 * @throws CliError if the request is not valid, or there is no home.
 */
export function mintForGate(
  context: Context,
  options: HomeChoice,
  request: MintRequest,
): Promise<MintedCapability> {
  return withHome(context, options, ({ issuer, ...parts }) => {
    const own = gateIssuer({ ...parts, issuer }, request.grant);
    const expires = request.expires ?? `${Math.min(LIFETIME, own.maxLifetime)}s`;
    return mintCapability({ ...request, expires }, { ...parts, issuer: own });
  });
}

/**
 * Returns the issuer by which a gate judges. A home can list grants, each with all its operations, but a server's tools
 * are not known beforehand. Therefore the issuer uses the home's list only if the list contains the gate's grant.
 */
export function gateIssuer(
  { issuer, keys, revocations }: Pick<Home, "issuer" | "keys" | "revocations">,
  grant: string,
): Issuer {
  const { name, maxLifetime, grants } = issuer;
  if (grants === undefined || grants.has(grant)) return issuer;
  return createIssuer({ name, keys, revocations, maxLifetime });
}

/**
 * Makes the home if there is none.
 *
 * @returns `true` if the function has made a home.
 */
export async function makeHome(files: HomeFiles): Promise<boolean> {
  try {
    readHome(files);
    return false;
  } catch (error) {
    if (!(error instanceof HomeError) || error.code !== "home_missing") throw error;
    const { folder, database } = files;
    const issuer = hostname();
    // A long lifetime, because the configuration of a host names the same token for weeks.
    await createHome({ folder, database, issuer, maxLifetime: MAX_LIFETIME });
    return true;
  }
}
