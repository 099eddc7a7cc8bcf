import { canonicalBytes, isJsonObject, type Json, type JsonObject } from "../bytes/json.js";
import { a2aMembers } from "./a2a-members.js";

/** A card as a signature may cover it (A2A 1.0, section 8.4.1). */
export interface SignedForm {
  /** The signed bytes: the canonical JSON (RFC 8785) of the card without its signatures. */
  readonly payload: Uint8Array;
  /** The card in those bytes, with its signatures; members that they do not cover are left out. */
  readonly document: JsonObject;
}

/**
 * The forms that signers sign, each once: the card as served; without members that are empty or at their default, as
 * A2A says; and the latter with A2A's members alone, which the official SDKs verify.
 *
 * @throws TypeError if it has a lone surrogate, and so no canonical form.
 */
export function signedForms(card: JsonObject): readonly SignedForm[] {
  const { signatures, ...content } = card;
  const { card: known } = a2aMembers(content);
  const forms = [content, withoutDefaults(content)];
  if (known !== undefined) forms.push(withoutDefaults(known));
  const found: SignedForm[] = [];
  for (const form of forms.map((one) => formOf(one, signatures))) {
    const isThere = found.some((one) => Buffer.compare(one.payload, form.payload) === 0);
    if (!isThere) found.push(form);
  }
  return found;
}

function formOf(content: JsonObject, signatures: Json | undefined): SignedForm {
  const document = signatures === undefined ? content : { ...content, signatures };
  return { payload: canonicalBytes(content), document };
}

function withoutDefaults(card: JsonObject): JsonObject {
  const kept = withoutEmpty(card, "");
  return kept !== undefined && isJsonObject(kept) ? kept : {};
}

/** A2A's flags without a presence of their own: `false` counts as absent. */
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
