import { bytes, type Data, hash2, hex, hmac, seal, sha256 } from "./bytes.js";

// Builds chains, third-party caveats and bound discharges, as section 2 of the specification defines them.

/** A third-party caveat whose key is not sealed yet. */
export interface Third {
  readonly cid: Data;
  readonly caveatKey: Data;
  /** The key to seal; by default, it is derived from `caveatKey`. */
  readonly firstKey?: Uint8Array;
  readonly location?: string;
  /** The nonce for sealing the key. The default is derived from `cid`, so that every run gives the same bytes. */
  readonly nonce?: Uint8Array;
}

/** A caveat of a macaroon. A caveat with a `vid` is a third-party caveat. */
export interface BuiltCaveat {
  readonly cid: Uint8Array;
  readonly vid?: Uint8Array;
  readonly location?: string | undefined;
}

/** A macaroon, with the key and the tags that only its maker knows. */
export interface Built {
  readonly location: string | undefined;
  readonly identifier: Uint8Array;
  readonly caveats: readonly BuiltCaveat[];
  readonly signature: Uint8Array;
  /** The key from which the first tag is computed: `dk(secret)`. */
  readonly firstKey: Uint8Array;
  /** All tags, beginning with that of the identifier. They are computed from `firstKey` and the fields. */
  readonly tags: readonly Uint8Array[];
}

export type Link = Data | Third;

/** Computes `dk(secret)`. */
export function derive(secret: Data): Uint8Array {
  return hmac(bytes("macaroons-key-generator"), secret);
}

/** Returns a third-party caveat. Its caveat key is derived from `cid`, unless `more` has one. */
export function third(cid: string, more: Partial<Third> = {}): Third {
  return { cid, caveatKey: `secret of ${cid}`, ...more };
}

/** Builds a correctly signed macaroon with the given caveats. */
export function chain(secret: Data, identifier: Data, links: readonly Link[] = []): Built {
  return chainFrom(derive(secret), identifier, links);
}

function chainFrom(firstKey: Uint8Array, identifier: Data, links: readonly Link[]): Built {
  const id = bytes(identifier);
  let tag = hmac(firstKey, id);
  const tags = [tag];
  const caveats: BuiltCaveat[] = [];
  for (const link of links) {
    const caveat = caveatOf(link, tag);
    caveats.push(caveat);
    tag = nextTag(tag, caveat);
    tags.push(tag);
  }
  return { location: undefined, identifier: id, caveats, signature: tag, firstKey, tags };
}

function caveatOf(link: Link, tag: Uint8Array): BuiltCaveat {
  if (typeof link === "string" || link instanceof Uint8Array) return { cid: bytes(link) };
  const nonce = link.nonce ?? sha256("nonce", link.cid).slice(0, 24);
  const vid = seal(tag, nonce, firstKeyOf(link));
  return { cid: bytes(link.cid), vid, location: link.location };
}

function nextTag(tag: Uint8Array, { cid, vid }: BuiltCaveat): Uint8Array {
  return vid === undefined ? hmac(tag, cid) : hash2(tag, vid, cid);
}

/** Builds a discharge that is not yet bound to a root. */
export function dischargeOf(of: Third, links: readonly Link[] = []): Built {
  return chainFrom(firstKeyOf(of), of.cid, links);
}

function firstKeyOf({ firstKey, caveatKey }: Third): Uint8Array {
  return firstKey ?? derive(caveatKey);
}

/** Binds a discharge to `root`, as the holder does before presenting both. */
export function bind(root: Built, discharge: Built): Built {
  const signature = hash2(new Uint8Array(32), root.signature, discharge.signature);
  return { ...discharge, signature };
}

/**
 * Replaces fields of a macaroon without signing it again, like an attacker without the key. The tags in the
 * result are those that a checker computes from the new fields.
 */
export function tampered(
  built: Built,
  fields: Partial<Pick<Built, "identifier" | "caveats" | "signature">>,
): Built {
  const changed = { ...built, ...fields };
  let tag = hmac(built.firstKey, changed.identifier);
  const tags = [tag];
  for (const caveat of changed.caveats) {
    tag = nextTag(tag, caveat);
    tags.push(tag);
  }
  return { ...changed, tags };
}

/** Appends a first-party caveat, as any holder can. */
export function append(built: Built, caveat: Data): Built {
  const cid = bytes(caveat);
  const signature = hmac(built.signature, cid);
  const tags = [...built.tags, signature];
  return { ...built, caveats: [...built.caveats, { cid }], signature, tags };
}

/** Returns the revocation id of the link with this tag (section 8). */
export function revocationId(tag: Uint8Array): string {
  const digest = sha256("proviso-revocation-v1", tag);
  return `rv_${Buffer.from(digest.subarray(0, 16)).toString("base64url")}`;
}

/** Returns the chain id for a revocation id (section 8). */
export function chainId(id: string): string {
  const own = Buffer.from(id.slice("rv_".length), "base64url");
  own.writeUInt8((own.readUInt8(6) & 0x0f) | 0x80, 6);
  own.writeUInt8((own.readUInt8(8) & 0x3f) | 0x80, 8);
  const hex = own.toString("hex");
  return [
    [0, 8],
    [8, 12],
    [12, 16],
    [16, 20],
    [20, 32],
  ]
    .map(([a, b]) => hex.slice(a, b))
    .join("-");
}

export function located(built: Built, location: string): Built {
  return { ...built, location };
}

/** Returns all tags of a macaroon, in hexadecimal. */
export function hexTags(built: Built): string[] {
  return built.tags.map(hex);
}
