import type { Identifier } from "../../src/index.js";
import type { Issuer } from "../../src/issuer/index.js";
import {
  addFirstPartyCaveat,
  addThirdPartyCaveat,
  createMacaroon,
  createRootKey,
  macaroonToText,
  parseMacaroon,
} from "../../src/macaroon/index.js";
import { revocationIdOf } from "../../src/revocation/id.js";
import { fixture, mint, utf8 } from "./support.js";

// Tokens that no issuer mints.

const made = fixture();
export const issuer: Issuer = made.issuer;
const { keys } = made;
export const TOKEN: string = mint(issuer);
export const PARTS: Identifier = {
  v: 1,
  iss: "agent",
  kid: keys.minting.kid,
  id: "cap_AAAAAAAAAAAAAAAA",
  grant: "files",
  issued: "2030-01-01T00:00:00Z",
};

/** Returns the token with an additional third-party caveat, whose key is "third". */
export function needing(token: string, identifier: string): string {
  const macaroon = addThirdPartyCaveat(parseMacaroon(token), { key: utf8("third"), identifier });
  return macaroonToText(macaroon);
}

/**
 * Returns a discharge for a caveat made by {@link needing}, with `hops` as its own caveats, and the revocation id of
 * the discharge's last link.
 */
export function answering(
  identifier: string,
  ...hops: readonly string[]
): { readonly discharge: string; readonly revocationId: string } {
  const bare = createMacaroon(createRootKey(utf8("third")), { identifier });
  const macaroon = hops.reduce(addFirstPartyCaveat, bare);
  const revocationId = revocationIdOf(macaroon.signature);
  return { discharge: macaroonToText(macaroon), revocationId };
}

/** Returns a correctly signed macaroon with this identifier and no caveats. */
export function withIdentifier(identifier: object | string): string {
  const text = typeof identifier === "string" ? identifier : JSON.stringify(identifier);
  return macaroonToText(createMacaroon(keys.minting.root, { identifier: text }));
}

/** Writes a flat object in canonical form. */
export function canonical(parts: object): string {
  return JSON.stringify(
    Object.fromEntries(Object.entries(parts).sort(([a], [b]) => (a < b ? -1 : 1))),
  );
}
