import { canonicalJson, type Json } from "../../bytes/json.js";
import { plainCopy, plainObject } from "../../checks/plain.js";
import { digestOfText } from "../../macaroon/hmac.js";
import type { Approval } from "./records.js";

/**
 * Returns the SHA-256 of the canonical JSON (RFC 8785) of subject and rule, as base64url.
 *
 * @throws TypeError if the approval is not plain data, or has no canonical form, for example because of a lone
 *   surrogate.
 */
export function digestOf(approval: Pick<Approval, "subject" | "rule">): string {
  const { subject, rule } = plainObject(approval, "approval");
  return digestOfJson({
    rule: plainCopy(rule, "approval.rule", "arguments"),
    subject: plainCopy(subject, "approval.subject", "arguments"),
  });
}

/** Returns the SHA-256 of a value's canonical JSON, as base64url. Properties that are undefined are left out. */
export function digestOfJson(value: unknown): string {
  const json: Json = JSON.parse(JSON.stringify(value));
  return digestOfText(canonicalJson(json));
}
