import { equalBytes } from "@noble/ciphers/utils.js";
import type { CallerAuthentication, CallerRequest } from "../../agent/caller.js";
import { readBearer, refused } from "../../auth/bearer.js";
import { decodeBase64 } from "../../bytes/base64.js";
import { TokenError } from "../../bytes/token-error.js";
import { decodeUtf8 } from "../../bytes/utf8.js";
import { readServiceKeyId, revocableKeyIds } from "../../capability/key-id.js";
import type { Keyring } from "../../issuer/keyring.js";
import type { RevocationSource } from "../../revocation/source.js";

const ADVICE = "a service reads the revocations by a credential derived from its key";
/** Longest credential of a service, in characters. */
const LONGEST_CREDENTIAL = 2048;
const NOT_KNOWN = `the credential is not of a service of this issuer; ${ADVICE}`;

/** Authenticates a service by its credential. Refuses a key if the key or its root key was revoked. */
export function authenticateService(
  request: CallerRequest,
  keys: Keyring,
  revocations: RevocationSource,
): CallerAuthentication {
  const bearer = readBearer(request, ADVICE, LONGEST_CREDENTIAL);
  if (!bearer.ok) return bearer;
  const credential = credentialIn(bearer.token);
  const id = credential && readServiceKeyId(credential.kid);
  const key = credential && keys.feedKey(credential.kid);
  if (credential === undefined || id === undefined || key === undefined) {
    return refused("token_invalid", NOT_KNOWN);
  }
  if (!equalBytes(credential.proof, key.credential())) return refused("token_invalid", NOT_KNOWN);
  const { kid } = credential;
  const query = { links: [], capability: "", keys: revocableKeyIds(kid), issued: 0 };
  const revoked = revocations.find(query);
  if (revoked.length > 0) return refused("token_invalid", "the service's key is revoked");
  return { ok: true, caller: { principal: id.service, invoker: kid } };
}

function credentialIn(
  token: string,
): { readonly kid: string; readonly proof: Uint8Array } | undefined {
  const [name = "", proof = "", ...more] = token.split(".");
  if (more.length > 0) return undefined;
  try {
    const kid = decodeUtf8(decodeBase64(name));
    return kid === undefined ? undefined : { kid, proof: decodeBase64(proof) };
  } catch (error) {
    if (error instanceof TokenError) return undefined;
    throw error;
  }
}
