import { assertMembers } from "../../checks/members.js";

/**
 * Values that show that a user was there when signing in, or used a separate channel, such as a security key; a
 * password alone does not. One of them is enough.
 */
export interface Presence {
  /** Of the claim `acr`, such as `phr` or `phrh` (OpenID Connect EAP ACR Values 1.0). They are asked for, too. */
  readonly acr?: readonly string[];
  /** Of the claim `amr`, such as `hwk`, `user` or `fpt` (RFC 8176). */
  readonly amr?: readonly string[];
}

/** @throws TypeError naming the member that is wrong. */
export function checkedPresence(presence: Presence): Presence {
  assertMembers(presence, ["acr", "amr"], "login.presence");
  const { acr = [], amr = [] } = presence;
  for (const [name, values] of Object.entries({ acr, amr })) {
    // Values of acr are asked for in one text, separated by spaces.
    const texts =
      Array.isArray(values) &&
      values.every((one) => typeof one === "string" && /^[\x21-\x7e]+$/.test(one));
    if (!texts) {
      const what = "must be an array of texts of printable ASCII characters without spaces";
      throw new TypeError(`login.presence.${name}: ${what}`);
    }
  }
  if (acr.length + amr.length === 0) {
    throw new TypeError('login.presence: must name at least one value, in "acr" or "amr"');
  }
  return { acr, amr };
}

/** Whether the claims of an ID token have one of the values. */
export function isPresent(
  claims: { readonly [claim: string]: unknown },
  { acr = [], amr = [] }: Presence,
): boolean {
  const methods: unknown = claims["amr"];
  return (
    acr.some((one) => claims["acr"] === one) ||
    (Array.isArray(methods) && amr.some((one) => methods.includes(one)))
  );
}
