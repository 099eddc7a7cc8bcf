import type { FlattenedJWSInput, JWK, JWSHeaderParameters } from "jose";
import { ALGORITHMS } from "../auth/jwt-options.js";
import {
  canonicalBytes,
  isJsonObject,
  type Json,
  type JsonObject,
  quotedName,
} from "../bytes/json.js";
import { a2aMembers } from "./a2a-members.js";
import type { DiscoveryDenial, DiscoveryWarning } from "./denial.js";
import type { FindKeys } from "./trusted-keys.js";

type Jose = typeof import("jose");

/** The result of checking a card's signatures. */
export interface SignatureReading {
  /** The card to judge. If a trusted key signed the card, only its signed properties are left. */
  readonly document: JsonObject;
  /** The `kid` of the trusted key that made a valid signature; absent if no trusted key did. */
  readonly signedBy?: string;
  /** Denials with the code `signature_invalid`. If there is a denial, the card is refused, whatever else it says. */
  readonly denials: readonly DiscoveryDenial[];
  /** Warnings with the code `signature_untrusted`. */
  readonly warnings: readonly DiscoveryWarning[];
}

const MOST_SIGNATURES = 8;
/** Maximum number of checks for one card: 8 signatures × 2 keys with the same id × 3 forms of the card. */
const MOST_CHECKS = 48;
const RULE = "signatures";

/**
 * Judges a card's signatures (A2A 1.0, section 8.4). A signature that names a trusted key but does not verify
 * is `signature_invalid`, unless another signature by the same key verifies, because a signer signs several
 * forms. Signatures by untrusted keys only cause warnings.
 *
 * @param card - A card whose depth has been checked.
 */
export async function readSignatures(
  jose: Jose,
  card: JsonObject,
  find: FindKeys,
): Promise<SignatureReading> {
  const { signatures } = card;
  if (signatures === undefined || signatures === null) return reading(card);
  if (!Array.isArray(signatures)) return refused(card, "it is not an array", "/signatures");
  const entries: readonly Json[] = signatures;
  if (entries.length > MOST_SIGNATURES) {
    return refused(card, `a card has at most ${MOST_SIGNATURES}`, "/signatures");
  }
  if (entries.length === 0) return reading(card);
  const forms = formsOf(card);
  if (forms === undefined) return refused(card, "the card has no canonical form", "");
  const twice = repeatedEntry(entries);
  if (twice !== undefined) return refused(card, "it is there twice", `/signatures/${twice}`);
  const warnings: DiscoveryWarning[] = [];
  const checks = new SignatureChecks(jose, forms);
  const failed: { readonly by: Failed; readonly path: string }[] = [];
  const held: JWK[] = [];
  let signed: { readonly by: string; readonly document: JsonObject } | undefined;
  for (const [at, entry] of entries.entries()) {
    const path = `/signatures/${at}`;
    const found = await judgeEntry(jose, entry, checks, find);
    if (checks.isSpent) return refused(card, `it takes more than ${MOST_CHECKS} checks`, path);
    if ("invalid" in found) return refused(card, found.invalid, path);
    if ("failed" in found) failed.push({ by: found, path });
    else if ("untrusted" in found) {
      // A signer that signs several forms of one card is reported once.
      const warning = untrusted(found.untrusted, path);
      if (!warnings.some(({ message }) => message === warning.message)) warnings.push(warning);
    } else {
      held.push(found.key);
      signed ??= { by: found.by, document: found.form.document };
    }
  }
  const forged = failed.find(({ by }) => !by.keys.some((key) => held.includes(key)));
  if (forged !== undefined) return refused(card, forged.by.failed, forged.path);
  // If a trusted key has signed the card, warnings about other keys do not matter.
  if (signed === undefined) return reading(card, warnings);
  return { ...reading(signed.document), signedBy: signed.by };
}

/** A signature that names a trusted key's id, but that no key with this id has made over this card. */
interface Failed {
  readonly failed: string;
  readonly keys: readonly JWK[];
}

type Judgement =
  | { readonly by: string; readonly form: SignedForm; readonly key: JWK }
  | Failed
  | { readonly invalid: string }
  | { readonly untrusted: string };

async function judgeEntry(
  jose: Jose,
  entry: Json,
  checks: SignatureChecks,
  find: FindKeys,
): Promise<Judgement> {
  const members = isJsonObject(entry) ? entry : {};
  const { protected: head, signature } = members;
  if (typeof head !== "string" || typeof signature !== "string") {
    return { invalid: 'it is not an object with the strings "protected" and "signature"' };
  }
  const header = headerIn(jose, head);
  if (header === undefined) return { invalid: "its protected header is not base64url of JSON" };
  const { alg, kid, jku } = header;
  if (typeof kid !== "string") return { untrusted: "its protected header names no key (kid)" };
  const found = await find(kid, typeof jku === "string" ? jku : undefined);
  if ("missing" in found) return { untrusted: `by the key ${quotedName(kid)}: ${found.missing}` };
  if (typeof alg !== "string" || !ALGORITHMS.includes(alg)) {
    const named = typeof alg === "string" ? quotedName(alg) : "none";
    return { invalid: `its algorithm, ${named}, is not a signature with a public key` };
  }
  for (const key of found.keys) {
    const form = await checks.formOf({ head, signature, alg, key });
    if (form !== undefined) return { by: kid, form, key };
  }
  const why = `the key ${quotedName(kid)}, which is trusted, has not made it over this card`;
  return { failed: why, keys: found.keys };
}

/** Returns the index of the first entry that repeats an earlier entry; `undefined` if there is none. */
function repeatedEntry(entries: readonly Json[]): number | undefined {
  const seen = new Set<string>();
  const at = entries.findIndex((entry) => {
    const { protected: head, signature } = isJsonObject(entry) ? entry : {};
    if (typeof head !== "string" || typeof signature !== "string") return false;
    const size = seen.size;
    return seen.add(`${head}.${signature}`).size === size;
  });
  return at === -1 ? undefined : at;
}

function headerIn(jose: Jose, head: string): JWSHeaderParameters | undefined {
  try {
    return jose.decodeProtectedHeader({ protected: head });
  } catch {
    return undefined;
  }
}

interface Signed {
  readonly head: string;
  readonly signature: string;
  readonly alg: string;
  readonly key: JWK;
}

/** Checks the signatures of one card. The number of checks is limited, since each check may hash a megabyte. */
class SignatureChecks {
  readonly #jose: Jose;
  readonly #forms: readonly { readonly form: SignedForm; readonly payload: string }[];
  #left = MOST_CHECKS;

  constructor(jose: Jose, forms: readonly SignedForm[]) {
    this.#jose = jose;
    this.#forms = forms.map((form) => ({ form, payload: jose.base64url.encode(form.payload) }));
  }

  /** `true` if a check was skipped because the maximum was reached. */
  get isSpent(): boolean {
    return this.#left < 0;
  }

  /** Returns the form of the card that a key has signed; `undefined` if the key has signed none. */
  async formOf({ head, signature, alg, key }: Signed): Promise<SignedForm | undefined> {
    if (key.alg !== undefined && key.alg !== alg) return undefined;
    if (key.use !== undefined && key.use !== "sig") return undefined;
    for (const { form, payload } of this.#forms) {
      this.#left--;
      if (this.isSpent) return undefined;
      // The unprotected header is not signed, so it is ignored.
      const jws = { protected: head, signature, payload };
      if (await this.#verifies(jws, alg, key)) return form;
    }
    return undefined;
  }

  async #verifies(jws: FlattenedJWSInput, alg: string, key: JWK): Promise<boolean> {
    try {
      const trusted = await this.#jose.importJWK(key, alg);
      await this.#jose.flattenedVerify(jws, trusted, { algorithms: [alg] });
      return true;
    } catch {
      return false;
    }
  }
}

function formsOf(card: JsonObject): readonly SignedForm[] | undefined {
  try {
    return signedForms(card);
  } catch (error) {
    if (error instanceof TypeError) return undefined;
    throw error;
  }
}

function reading(
  document: JsonObject,
  warnings: readonly DiscoveryWarning[] = [],
): SignatureReading {
  return { document, denials: [], warnings };
}

function refused(document: JsonObject, why: string, path: string): SignatureReading {
  const message = `the card's signature does not hold: ${why}`;
  const denial: DiscoveryDenial = { code: "signature_invalid", rule: RULE, message, path };
  return { document, denials: [denial], warnings: [] };
}

function untrusted(why: string, path: string): DiscoveryWarning {
  const message = `the card counts as unsigned: its signature is not one that is trusted, ${why}`;
  return { code: "signature_untrusted", rule: RULE, message, path };
}

/**
 * Loads jose when the first signature is checked.
 * @throws Error if jose is not installed.
 */
export function loadJose(): Promise<Jose> {
  return import("jose").catch((cause: unknown) => {
    const message = "signatures of cards need the package jose: npm install jose";
    throw new Error(message, { cause });
  });
}

/** A form of a card that a signature may cover (A2A 1.0, section 8.4.1). */
export interface SignedForm {
  /** The signed bytes: the canonical JSON (RFC 8785) of the card without its signatures. */
  readonly payload: Uint8Array;
  /** The signed form of the card, together with its signatures. */
  readonly document: JsonObject;
}

/**
 * Returns the distinct forms of a card that signers sign: the card as served; the card without properties that
 * are empty or have their default, as A2A says; and the second form reduced to A2A's properties, which the
 * official SDKs verify.
 *
 * @throws TypeError if the card contains a lone surrogate, and so has no canonical form.
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

/** Flags of A2A for which `false` is the same as absent: in Protocol Buffers, they have no explicit presence. */
const PLAIN_FLAGS: readonly (readonly [name: string, place: RegExp])[] = [
  ["required", /^\/capabilities\/extensions\/\d+$/],
  ["pkceRequired", /^\/securitySchemes\/[^/]+\/.*authorizationCode$/],
];

// Recursion is safe for a received card, because its depth has been checked.
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
