import type { JsonObject } from "../../bytes/json.js";
import { type PartyContext, usedBefore } from "./authenticating.js";
import { type Reading, wrong } from "./bodies.js";
import { refuse } from "./errors.js";
import { type ReadKey, readJwt, readKey, verifyJwt } from "./jwt.js";

/** Whose new key it is, and where it is given. */
export interface Giving {
  /** The agent's id; absent for a host. */
  readonly agent?: string;
  /** The path of the endpoint. */
  readonly path: string;
  /**
   * Whether the key comes with what works once itself, so that the same proof is good for nothing again: then
   * nothing is kept of it, which anyone could have sent.
   */
  readonly once?: true;
}

/** Characters. */
const LONGEST = 8192;

/**
 * Reads `public_key` and its `proof`: a JWT under that key for this endpoint (`htu`), from a host with the
 * thumbprint as `iss`, from an agent with its id as `sub`. So no party passes for another by its key.
 *
 * @throws StorageError
 */
export async function readOwnKey(
  body: JsonObject,
  { agent, path, once }: Giving,
  context: Pick<PartyContext, "registry" | "url" | "clock" | "rate">,
): Promise<Reading<ReadKey>> {
  const { url, clock } = context;
  const key = await readKey(body["public_key"], "public_key");
  if (!key.ok) return key;
  const { proof } = body;
  if (proof === undefined) return wrong("proof", "is missing: a JWT under the new key");
  if (typeof proof !== "string" || proof.length > LONGEST) {
    return wrong("proof", `must be a text of at most ${LONGEST} characters`);
  }
  const refused = (why: string) => refuse("invalid_jwt", `proof: ${why}`);
  const unverified = readJwt(proof);
  if (!unverified.ok) return refused(unverified.message);
  if (unverified.type !== (agent === undefined ? "host+jwt" : "agent+jwt")) {
    return refused(`must be ${agent === undefined ? "a host+jwt" : "an agent+jwt"} ("typ")`);
  }
  const jwt = await verifyJwt(
    unverified,
    key.key,
    (aud) => aud === url || aud === `${url}/`,
    clock(),
  );
  if (!jwt.ok) return refused(jwt.message);
  const isOwn = agent === undefined ? jwt.iss === key.thumbprint : unverified.sub === agent;
  if (!isOwn) return refused("is of another party than the one that gives the key");
  if (jwt.bound.htu !== `${url}${path}`) return refused('must be for this address ("htu")');
  if (once) return { ok: true, value: key };
  const used = await usedBefore(key.thumbprint, jwt, context);
  return used === undefined
    ? { ok: true, value: key }
    : { ...used, message: `proof: ${used.message}` };
}
