import { hash, timingSafeEqual } from "node:crypto";
import type {
  Authenticator,
  Caller,
  CallerAuthentication,
  CallerRequest,
} from "../agent/caller.js";
import { assertArray } from "../checks/kinds.js";
import { assertMembers } from "../checks/members.js";
import { readBearer, refused } from "./bearer.js";
import { IDENTITY, isIdentity } from "./identity.js";

/** A token that identifies a caller without an authorization server. */
export interface FixedToken {
  /** At least 16 characters of the bearer token alphabet: letters, digits, `-._~+/`, and `=` at the end. */
  readonly token: string;
  readonly principal: string;
  readonly invoker: string;
}

/** Options that enable fixed tokens. */
export interface FixedTokensOptions {
  /** Confirms that this is not a production service. */
  readonly development: true;
  /** Shows or logs a warning that fixed tokens are accepted. Called once, at the start. */
  readonly announce: (message: string) => void;
}

const MIN_TOKEN_LENGTH = 16;
const ADVICE = "send one of the development tokens that this agent was started with";

/**
 * Authenticates callers by tokens that never change and never expire, for trials on one machine. Any party that knows
 * such a token is accepted as the caller that the token identifies.
 *
 * @throws TypeError unless `development` is `true`, and if a token is wrong; the message names the token's index.
 *
 * @example
 * ```ts
 * import { createFixedTokens } from "proviso/auth";
 *
 * const said = [];
 * const authenticator = createFixedTokens(
 *   [{ token: "dev-alice-0123456789", principal: "alice", invoker: "orchestrator" }],
 *   { development: true, announce: (message) => said.push(message) },
 * );
 * said.length; // => 1
 *
 * const requestWith = (authorization) => ({ method: "GET", url: "/", headers: { authorization } });
 * const known = await authenticator.authenticate(requestWith("Bearer dev-alice-0123456789"));
 * known; // => { ok: true, caller: { principal: "alice", invoker: "orchestrator" } }
 *
 * const unknown = await authenticator.authenticate(requestWith("Bearer dev-mallory-012345678"));
 * unknown.ok ? "" : unknown.denial.code; // => "token_invalid"
 * ```
 */
export function createFixedTokens(
  tokens: readonly FixedToken[],
  options: FixedTokensOptions,
): Authenticator {
  if (options?.development !== true) {
    throw new TypeError("options.development must be true: fixed tokens are for development");
  }
  assertMembers(options, ["development", "announce"], "options");
  assertArray(tokens, "tokens", "fixed tokens");
  if (typeof options.announce !== "function") {
    throw new TypeError("announce must be a function that shows a message to the operator");
  }
  const known = checkedTokens(tokens);
  const callers = known.map(({ caller }) => `${caller.principal} through ${caller.invoker}`);
  options.announce(
    "WARNING: fixed development tokens are accepted, which never expire: a party that knows one is " +
      `${callers.join(", or ")}. Never use them in production; use an authorization server.`,
  );
  return {
    async authenticate(request: CallerRequest): Promise<CallerAuthentication> {
      const bearer = readBearer(request, ADVICE);
      if (!bearer.ok) return bearer;
      const digest = sha256(bearer.token);
      // Compare with every token, so that the time does not reveal which token is similar.
      const [entry] = known.filter((one) => timingSafeEqual(one.digest, digest));
      if (entry !== undefined) return { ok: true, caller: entry.caller };
      return refused("token_invalid", `this agent does not know the token; ${ADVICE}`);
    },
  };
}

interface KnownToken {
  readonly digest: Buffer;
  readonly caller: Caller;
}

function checkedTokens(tokens: readonly FixedToken[]): readonly KnownToken[] {
  if (!Array.isArray(tokens) || tokens.length === 0) {
    throw new TypeError("tokens: must be an array of at least one token");
  }
  const known: KnownToken[] = [];
  for (const [at, fixed] of tokens.entries()) {
    const entry = checkedToken(fixed, `tokens[${at}]`);
    const twin = known.findIndex(({ digest }) => digest.equals(entry.digest));
    if (twin !== -1) throw new TypeError(`tokens[${at}].token: is that of tokens[${twin}]`);
    known.push(entry);
  }
  return known;
}

function checkedToken(fixed: FixedToken, where: string): KnownToken {
  assertMembers(fixed, ["token", "principal", "invoker"], where);
  const { token, principal, invoker } = fixed;
  if (typeof token !== "string" || token.length < MIN_TOKEN_LENGTH) {
    throw new TypeError(
      `${where}.token: must be a string of at least ${MIN_TOKEN_LENGTH} characters`,
    );
  }
  if (!readBearer({ headers: { authorization: `Bearer ${token}` } }, "").ok) {
    const allowed = "letters, digits and -._~+/ only, = at its end, and 8 KiB at most";
    throw new TypeError(`${where}.token: must be a bearer token: ${allowed}`);
  }
  for (const [name, value] of Object.entries({ principal, invoker })) {
    if (!isIdentity(value)) throw new TypeError(`${where}.${name}: must be ${IDENTITY}`);
  }
  return { digest: sha256(token), caller: Object.freeze({ principal, invoker }) };
}

function sha256(text: string): Buffer {
  return hash("sha256", text, "buffer");
}
