import type { ClientError, ClientErrorCode } from "../client/client-error.js";
import type { DiscoveryCode, DiscoveryDenial } from "./denial.js";

const CODES: { readonly [Code in ClientErrorCode]: DiscoveryCode } = {
  address_invalid: "address_invalid",
  address_insecure: "address_refused",
  address_refused: "address_refused",
  origin_foreign: "address_refused",
  unreachable: "card_unreachable",
  tls_failed: "card_unreachable",
  not_http: "card_unreachable",
  not_found: "card_unreachable",
  timed_out: "card_timeout",
  redirected: "redirect_refused",
  not_json: "card_not_json",
  answer_malformed: "card_malformed",
  answer_too_large: "card_too_large",
};

/** Why a card could not be fetched, as a reason: its `rule` is the finer cause, such as `tls_failed`. */
export function fetchDenial({ code, message }: ClientError): DiscoveryDenial {
  return { code: CODES[code], rule: code, message };
}

/** Whether a refusal is for want of a card that could be read, and so says nothing of the agent. */
export function isUnreached(denials: readonly DiscoveryDenial[]): boolean {
  return denials.some(({ code }) => UNREACHED.has(code));
}

const UNREACHED: ReadonlySet<DiscoveryCode> = new Set(["card_unreachable", "card_timeout"]);
