import type { NewKey } from "../../agent/parties/requests.js";
import type { Json, JsonObject } from "../../bytes/json.js";
import { type PartyContext, usedBefore } from "./authenticating.js";
import { type Reading, wrong } from "./bodies.js";
import { isAddress } from "./bound-address.js";
import { type Fault, fault } from "./errors.js";
import { readJwt, verifyJwt } from "./jwt.js";
import { type ReadKey, readKey } from "./keys.js";

/** The party that gets the new key, and the endpoint that received the key. */
export interface Giving {
  /** The agent's id; absent for a host. */
  readonly agent?: string;
  /** The path of the endpoint. */
  readonly path: string;
  /** True if the party does not belong to a linked host, so that anyone can become such a party. */
  readonly stranger: boolean;
  /**
   * True if the request contains an enrolment token, which can be used once and so prevents a replay of the proof.
   * Nothing about the proof is then stored, since anyone could send a proof.
   */
  readonly once?: true;
}

/** Longest proof, in characters. */
const LONGEST = 8192;

/**
 * Reads `public_key` and the optional `proof`: a JWT that is signed with this key for this endpoint (`htu`). In the
 * proof of a host, `iss` must be the key's thumbprint; in the proof of an agent, `sub` must be the agent's id.
 *
 * @throws StorageError
 */
export async function readNewKey(
  body: JsonObject,
  giving: Giving,
  context: Pick<PartyContext, "parties" | "url" | "clock" | "rate">,
): Promise<Reading<NewKey>> {
  const read = await readKey(body["public_key"], "public_key");
  if (!read.ok) return read;
  const { key, thumbprint } = read;
  const { proof } = body;
  if (proof === undefined) return { ok: true, value: { key, thumbprint, proven: false } };
  const fault = await proofFault(proof, read, giving, context);
  return fault ?? { ok: true, value: { key, thumbprint, proven: true } };
}

async function proofFault(
  proof: Json,
  key: ReadKey,
  { agent, path, stranger, once }: Giving,
  context: Pick<PartyContext, "parties" | "url" | "clock" | "rate">,
): Promise<Fault | undefined> {
  const { url, clock } = context;
  if (typeof proof !== "string" || proof.length > LONGEST) {
    return wrong("proof", `must be a string of at most ${LONGEST} characters`);
  }
  const refused = (why: string) => fault("invalid_jwt", `proof: ${why}`);
  const unverified = readJwt(proof);
  if (!unverified.ok) return refused(unverified.message);
  if (unverified.type !== (agent === undefined ? "host+jwt" : "agent+jwt")) {
    return refused(`must be ${agent === undefined ? "a host+jwt" : "an agent+jwt"} ("typ")`);
  }
  const jwt = await verifyJwt(unverified, key.key, (aud) => aud === url, clock());
  if (!jwt.ok) return refused(jwt.message);
  const isOwn = agent === undefined ? jwt.iss === key.thumbprint : unverified.sub === agent;
  if (!isOwn) return refused("is of another party than the one that gives the key");
  const { htu } = jwt.bound;
  if (htu === undefined || !isAddress(htu, `${url}${path}`)) {
    return refused('must be for this address ("htu")');
  }
  if (once) return undefined;
  const used = await usedBefore({ thumbprint: key.thumbprint, stranger }, jwt, context);
  return used === undefined ? undefined : { ...used, message: `proof: ${used.message}` };
}
