import { statSync } from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";
import { TokenError } from "../../src/bytes/token-error.js";
import { revocationId } from "../../src/capability/attenuate.js";
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
import { CliError } from "../exit.js";
import { type HomeChoice, homeFor, withHome } from "../home.js";
import { mintCapability } from "../minting.js";
import { assertNoFolder, putFile } from "../private-file.js";
import { readTokenArgument } from "../token-argument.js";

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
  /** The token that was in the file before, if it is of this home and still in force. */
  readonly replaced?: ReplacedToken | undefined;
}

/** A token that is no longer in its file. Copies of it stay in force until it expires or is revoked. */
interface ReplacedToken {
  readonly id: string;
  readonly revocationId: string;
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
  const replaced = await tokenInForce(context, options, file);
  await putFile(file, `${minted.token}\n`);
  return { minted, file, home, madeHome, replaced };
}

/** Returns the token in a file; `undefined` if there is no token, or it is not of this home or no longer in force. */
async function tokenInForce(
  context: Context,
  options: HomeChoice,
  file: string,
): Promise<ReplacedToken | undefined> {
  // Opening a named pipe would wait for a writer.
  if (statSync(file, { throwIfNoEntry: false })?.isFile() !== true) return undefined;
  let text: string;
  try {
    text = readTokenArgument(context, `@${file}`);
  } catch (error) {
    if (error instanceof CliError || error instanceof TokenError) return undefined;
    throw error;
  }
  return withHome(context, options, ({ issuer }) => {
    const found = issuer.authenticate(text);
    if (!found.ok || !issuer.isStillValid(found.token)) return undefined;
    return { id: found.token.identifier.id, revocationId: revocationId(text) };
  });
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
