import type { Json } from "../bytes/json.js";
import { type Flag, type HopRule, NONE, wrongValue } from "./hop-rule.js";

const NONCE = /^[A-Za-z0-9_-]{16}$/;

/** `purpose`: the reason for a hop; ignored in checks. */
export const PURPOSE: HopRule<string> = {
  ...noteRule("purpose", "a string", () => true),
  flag: {
    kind: "text",
    form: "--purpose <text>",
    help: "why, in your own words; kept for the audit trail",
  } satisfies Flag,
};

/** `nonce`: distinguishes hops that are otherwise equal; ignored in checks. */
export const NONCE_RULE: HopRule<string> = noteRule("nonce", "16 base64url characters", (text) =>
  NONCE.test(text),
);

function noteRule(
  key: "purpose" | "nonce",
  expected: string,
  fits: (text: string) => boolean,
): HopRule<string> {
  return {
    label: key,
    problems: (value: Json) =>
      typeof value === "string" && fits(value) ? NONE : [wrongValue(key, expected, value)],
    canonical: (value) => value,
    failures: () => NONE,
    meet: () => ({}),
    empty: () => NONE,
    overreaches: () => NONE,
    intersect: (value) => value,
    words: (text) => ({ kind: "text", text }),
    left: () => undefined,
  };
}
