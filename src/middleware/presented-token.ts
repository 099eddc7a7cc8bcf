import { readBearer } from "../auth/bearer.js";
import { CAPABILITY_HEADER } from "../http/headers.js";

/**
 * Returns the value of a header. The values of a repeated header are joined by commas.
 *
 * @param name - The header's name, in upper or lower case.
 */
export type HeaderReader = (name: string) => string | null | undefined;

/** The token that a request presents, if it presents one; or a sentence about the client's mistake. */
export type PresentedToken =
  | { readonly ok: true; readonly token?: string }
  | { readonly ok: false; readonly message: string };

const TOKEN = /^[A-Za-z0-9\-._~+/]+=*$/;
const ADVICE = "send one capability in it";
// No limit is needed: the check of the token has a limit of its own, and servers limit the total size of
// headers.
const ANY_LENGTH = Number.POSITIVE_INFINITY;

/**
 * Reads the single token of a request from `Proviso-Capability` and, if the route allows it, from `Authorization`. Two
 * different tokens, several tokens in one header, or a string that is not a token are mistakes of the client. The server
 * does not guess which token is meant.
 */
export function presentedToken(header: HeaderReader, inAuthorization: boolean): PresentedToken {
  const own = header(CAPABILITY_HEADER) ?? undefined;
  if (own !== undefined && !TOKEN.test(own)) {
    return mistake(`the header ${CAPABILITY_HEADER} must hold one token in base64url`);
  }
  const bearer = inAuthorization ? bearerToken(header("Authorization") ?? "") : NOTHING;
  if (!bearer.ok || own === undefined) return bearer;
  if (bearer.token === undefined || bearer.token === own) return { ok: true, token: own };
  return mistake(`the headers Authorization and ${CAPABILITY_HEADER} hold different tokens`);
}

function bearerToken(authorization: string): PresentedToken {
  if (authorization.includes(",")) return mistake("the header Authorization must come once");
  const reading = readBearer({ headers: { authorization } }, ADVICE, ANY_LENGTH);
  if (reading.ok) return reading;
  const { code, message } = reading.denial;
  return code === "token_missing" ? NOTHING : mistake(message);
}

function mistake(message: string): PresentedToken {
  return { ok: false, message };
}

const NOTHING: PresentedToken = { ok: true };
