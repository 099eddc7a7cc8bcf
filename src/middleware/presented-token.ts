import { readBearer } from "../auth/bearer.js";
import { CAPABILITY_HEADER } from "../http/headers.js";

/** Returns a header's value, with repeated ones joined by commas. @param name - In upper or lower case. */
export type HeaderReader = (name: string) => string | null | undefined;

/** The token that a request presents, or a sentence about what is wrong, or neither. */
export type PresentedToken =
  | { readonly ok: true; readonly token?: string }
  | { readonly ok: false; readonly message: string };

const TOKEN = /^[A-Za-z0-9\-._~+/]+=*$/;
const ADVICE = "send one capability in it";
// The check of the token has its own limits, and servers limit all headers together.
const ANY_LENGTH = Number.POSITIVE_INFINITY;

/**
 * Reads the single token in `Proviso-Capability` or, if the route says so, in `Authorization`. Two different
 * tokens, several in one header, or anything else is the caller's mistake; the server does not guess.
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
