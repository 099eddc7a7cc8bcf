import { encodeBase64url } from "../../../src/bytes/base64.js";
import { canonicalBytes, type JsonObject } from "../../../src/bytes/json.js";
import {
  decodeIdentifier,
  encodeIdentifier,
  type Identifier,
} from "../../../src/capability/identifier.js";
import { addFirstPartyCaveat, createMacaroon } from "../../../src/macaroon/chain.js";
import { Macaroon, type MacaroonParts, partsOf } from "../../../src/macaroon/macaroon.js";
import { parseMacaroon } from "../../../src/macaroon/read.js";
import { RootKey } from "../../../src/macaroon/root-key.js";
import { macaroonToText, writeMacaroons } from "../../../src/macaroon/write.js";
import type { Kind } from "../tally.js";

/** A token that no issuer made, or that is written in a form that no issuer writes. */
export interface Forgery {
  readonly kind: Kind;
  readonly token: string;
}

const REBUILT: Kind = "a parent rebuilt from a child";
const SWAPPED: Kind = "swapped principals";

/** The contents of a hop that removes nothing. */
function widest(handles: readonly string[]): JsonObject {
  return {
    operations: ["create", "delete", "forward", "list", "read", "run", "send", "update"],
    expires: "2099-01-01T00:00:00Z",
    invokers: ["calendar", "code", "console", "documents", "email", "executor", "orchestrator"],
    ...(handles.length === 0 ? {} : { resourceHandles: [...new Set(handles)].sort() }),
  };
}

/**
 * Returns every forgery of a token that needs no key: hops removed, changed, swapped and appended; another principal,
 * grant or key in the identifier; and every way to write the token.
 *
 * @param handles - The handles that forged hops name.
 * @param other - Another token, as a source of parts.
 */
export function forgeries(
  token: string,
  handles: readonly string[],
  other: string | undefined,
): readonly Forgery[] {
  const macaroon = parseMacaroon(token);
  const parts = partsOf(macaroon);
  const { caveats, signature, identifier } = parts;
  const wide = canonicalBytes(widest(handles));
  const hop = { kind: "first-party", identifier: wide } as const;
  const rebuilt: Macaroon[] = [
    remade(parts, { caveats: caveats.slice(0, -1) }),
    remade(parts, { caveats: caveats.slice(0, 1) }),
    remade(parts, { caveats: [] }),
    remade(parts, { caveats: caveats.slice(1) }),
    remade(parts, { caveats: [...caveats].reverse() }),
    remade(parts, { caveats: [...caveats.slice(0, -1), hop] }),
    remade(parts, { caveats: [hop, ...caveats.slice(1)] }),
    remade(parts, { caveats: [hop] }),
    remade(parts, { caveats: caveats.slice(0, -1), signature: new Uint8Array(32) }),
    // A valid chain whose last hop claims to allow everything.
    addFirstPartyCaveat(macaroon, wide),
    addFirstPartyCaveat(remade(parts, { caveats: caveats.slice(0, 1) }), wide),
    addFirstPartyCaveat(remade(parts, { caveats: [] }), wide),
  ];
  if (other !== undefined) {
    const others = partsOf(parseMacaroon(other));
    rebuilt.push(remade(parts, { caveats: others.caveats }));
    rebuilt.push(remade(parts, { signature: others.signature }));
    rebuilt.push(remade(parts, { identifier: others.identifier }));
  }
  const swapped = identities(identifier).flatMap((changed) => [
    remade(parts, { identifier: changed }),
    addFirstPartyCaveat(createMacaroon(new RootKey(signature), { identifier: changed }), wide),
  ]);
  return [
    ...rebuilt.map((one) => ({ kind: REBUILT, token: macaroonToText(one) })),
    ...spellings(macaroon, remade(parts, { caveats: [hop] })).map((text) => ({
      kind: REBUILT,
      token: text,
    })),
    ...swapped.map((one) => ({ kind: SWAPPED, token: macaroonToText(one) })),
  ];
}

function remade(parts: MacaroonParts, changed: Partial<MacaroonParts>): Macaroon {
  return new Macaroon({ ...parts, ...changed });
}

/** Returns the identifier with another principal, no principal, another grant, or another key. */
function identities(bytes: Uint8Array): readonly Uint8Array[] {
  const identifier = decodeIdentifier(bytes);
  const service = identifier.iss;
  const { principal, ...nobody } = identifier;
  const changed: readonly Identifier[] = [
    { ...identifier, principal: principal === "bob" ? "alice" : "bob" },
    nobody,
    { ...identifier, grant: `${service}:legacy` },
    { ...identifier, kid: "key_AAAAAAAAAAAA" },
  ];
  return changed.map(encodeIdentifier);
}

/** Returns other ways to write a token, alone or beside a forgery, that parsers may interpret differently. */
function spellings(macaroon: Macaroon, forged: Macaroon): readonly string[] {
  const json = writeMacaroons([macaroon], "v2json");
  const text = macaroonToText(macaroon);
  const bytes = Buffer.from(text, "base64url");
  const inner = writeMacaroons([forged], "v2json").slice(1);
  return [
    json,
    writeMacaroons([macaroon], "v1"),
    writeMacaroons([macaroon], "v1json"),
    bytes.toString("base64"),
    writeMacaroons([forged], "v2json"),
    // One object with contradicting properties, and two tokens in one string.
    `${json.slice(0, -1)},${inner}`,
    `{${inner.slice(0, -1)},${json.slice(1)}`,
    writeMacaroons([macaroon, forged], "v2"),
    writeMacaroons([forged, macaroon], "v2"),
    encodeBase64url(Buffer.concat([bytes, Buffer.from([0])])),
    `${text}.${macaroonToText(forged)}`,
  ];
}
