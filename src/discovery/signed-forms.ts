import { canonicalBytes, isJsonObject, type Json, type JsonObject } from "../bytes/json.js";

/** A card as a signature may cover it (A2A 1.0, section 8.4.1). */
export interface SignedForm {
  /** What the signature covers: the canonical JSON (RFC 8785) of the card without its signatures. */
  readonly payload: Uint8Array;
  /** The card that this says, with its signatures: what is not covered is not in it. */
  readonly document: JsonObject;
}

/**
 * The forms that signers sign: the card as served and, if that differs, without what is empty or at its
 * default, which the official SDKs verify.
 *
 * @throws TypeError if it has a lone surrogate, and so no canonical form.
 */
export function signedForms(card: JsonObject): readonly SignedForm[] {
  const { signatures, ...content } = card;
  const served = formOf(content, signatures);
  const published = formOf(withoutDefaults(content), signatures);
  return Buffer.compare(served.payload, published.payload) === 0 ? [served] : [served, published];
}

function formOf(content: JsonObject, signatures: Json | undefined): SignedForm {
  const document = signatures === undefined ? content : { ...content, signatures };
  return { payload: canonicalBytes(content), document };
}

function withoutDefaults(card: JsonObject): JsonObject {
  const kept = withoutEmpty(card, "");
  return kept !== undefined && isJsonObject(kept) ? kept : {};
}

/** Flags of A2A's that have no presence of their own: `false` is as if they were left out. */
const PLAIN_FLAGS: readonly (readonly [name: string, place: RegExp])[] = [
  ["required", /^\/capabilities\/extensions\/\d+$/],
  ["pkceRequired", /^\/securitySchemes\/[^/]+\/.*authorizationCode$/],
];

// Recursive: the depth of a card is capped before.
function withoutEmpty(value: Json, place: string): Json | undefined {
  if (value === null || value === "") return undefined;
  if (Array.isArray(value)) {
    const items: readonly Json[] = value;
    const kept = items.flatMap((item, at) => {
      const one = withoutEmpty(item, `${place}/${at}`);
      return one === undefined ? [] : [one];
    });
    return kept.length === 0 ? undefined : kept;
  }
  if (!isJsonObject(value)) return value;
  const kept: [string, Json][] = [];
  for (const [name, member] of Object.entries(value)) {
    if (member === false && PLAIN_FLAGS.some(([flag, at]) => flag === name && at.test(place))) {
      continue;
    }
    const one = withoutEmpty(member, `${place}/${name}`);
    if (one !== undefined) kept.push([name, one]);
  }
  return kept.length === 0 ? undefined : Object.fromEntries(kept);
}
