import type { TokenErrorCode } from "../src/bytes/token-error.js";
import type { DenialCode } from "../src/capability/denial.js";
import { shown, shownList } from "../src/caveats/scalar.js";
import type { ReceivedDenial } from "../src/client/refusal.js";
import { EXIT, type ExitCode } from "./exit.js";
import { cut, escapedJson, type Paint, printable, type Row, renderRows } from "./output.js";

const MALFORMED =
  "it was altered on the way, or is no macaroon; ask the party that gave it to you for it again";
const TOO_LARGE = "no token of this kind is that large; check what you passed";

const TOKEN_ADVICE: { readonly [Code in TokenErrorCode]?: string } = {
  empty:
    "if it comes from a shell variable or a file, check that this is not empty: > FILE empties FILE " +
    "before a command reads it, and -o FILE does not",
  truncated: "it was cut short; copy the whole token",
  too_large: TOO_LARGE,
  too_many_caveats: TOO_LARGE,
  caveat_too_large: TOO_LARGE,
  too_many_discharges: TOO_LARGE,
  too_many_members: TOO_LARGE,
  too_deep: TOO_LARGE,
  format_unknown: "give the token itself, @FILE, or - for standard input",
  base64_character: "give the token itself, @FILE, or - for standard input",
  base64_whitespace: "it was broken over lines when it was copied; join them",
  base64_padding: "it was cut short or joined with something; copy the whole token",
  identifier_malformed: "proviso inspect shows any macaroon as it is",
  has_discharges: "give the token alone, without its discharges",
  utf8_invalid: "give the token as text in base64url",
};

/**
 * Returns the hint for an unreadable token, by the code of its `TokenError`; `undefined` if the message of the error
 * suffices.
 */
export function adviceForToken(code: string): string | undefined {
  // The message says how to convert the token.
  if (code === "format_not_v2") return undefined;
  return adviceIn(TOKEN_ADVICE, code) ?? MALFORMED;
}

const DENIAL_ADVICE: { readonly [Code in DenialCode]?: string } = {
  foreign_issuer: "verify it where it was issued, or give that issuer's --home",
  unknown_key: "ask the issuer for a new token; proviso keys list shows the keys that are left",
  signature_mismatch: "do not trust it; ask the party that gave it to you for it again",
  discharge_missing: "get the discharge from the third party and put it behind the token",
  discharge_invalid: "get a fresh discharge from the third party, bound to this very token",
  revoked: "ask the party that gave it to you for a new one",
  revocation_stale: "refresh the revocation list, and try again",
  grant_denied: "ask for a token of the grant that this service acts under",
  caveat_malformed: "ask the party that narrowed the token to do it again, with proviso attenuate",
  caveat_unknown: "ask the party that narrowed the token to do it again, with proviso attenuate",
  expiry_missing: "ask the issuer for a token that expires",
  expired: "ask for a new token",
  not_yet_valid: "wait, or ask for a token that is valid now",
  too_many_hops: "ask for a token that may be handed on further",
};

/** Returns the hint for a denial; `undefined` if the message of the denial suffices. */
export function adviceForDenial({ code, rule = "" }: ReceivedDenial): string | undefined {
  if (code === "token_malformed" || code === "token_too_large") return adviceForToken(rule);
  if (code === "grant_denied" && rule === "operations") {
    return "ask for a token of a grant that has the operation";
  }
  return adviceIn(DENIAL_ADVICE, code);
}

/** Returns the entry of a table for a code. Another party may have chosen the code, so it can be any string. */
export function adviceIn(
  advice: { readonly [code: string]: string },
  code: string,
): string | undefined {
  return Object.hasOwn(advice, code) ? advice[code] : undefined;
}

/** Returns the exit code of a refusal, by the code of its first denial. */
export function exitForDenial(code: string): ExitCode {
  switch (code) {
    case "token_malformed":
    case "token_truncated":
    case "token_too_large":
      return EXIT.malformed;
    case "foreign_issuer":
    case "unknown_key":
    case "signature_mismatch":
    case "discharge_missing":
    case "discharge_invalid":
      return EXIT.notAuthentic;
    case "revoked":
    case "revocation_stale":
      return EXIT.revoked;
    // The command returns the same exit code if it finds in the card that there is no such skill.
    case "skill_unknown":
      return EXIT.usage;
    default:
      return EXIT.refused;
  }
}

const MAX_SHOWN = 300;

/**
 * Formats a refusal with all its reasons.
 *
 * @param adviceFor - Returns the hint for a denial, if there is one.
 */
export function refusalLines<Denial extends ReceivedDenial>(
  denials: readonly Denial[],
  adviceFor: (denial: Denial) => string | undefined,
  paint: Paint,
): string[] {
  const count = denials.length === 1 ? "one reason" : `${denials.length} reasons`;
  return [
    `${paint.red("refused")} for ${count}`,
    ...denials.flatMap((denial) => denialLines(denial, adviceFor(denial), paint)),
    ...remedyLines(denials),
  ];
}

/** Says with which arguments a call would be allowed. Each token has a line of its own. */
function remedyLines(denials: readonly ReceivedDenial[]): string[] {
  const byToken = new Map<string, Set<string>>();
  for (const { capability, remedy } of denials) {
    if (remedy === undefined) continue;
    const token = capability === undefined ? "" : ` by token ${capability + 1}`;
    byToken.set(token, (byToken.get(token) ?? new Set()).add(remedyWords(remedy)));
  }
  return [...byToken].map(([token, words]) => `  allowed${token} ${[...words].join(" and ")}`);
}

function remedyWords(remedy: NonNullable<ReceivedDenial["remedy"]>): string {
  // A pointer of one segment without escapes is shown as the name of an argument.
  const name = printable(remedy.pointer.replace(/^\/([^/~]+)$/, "$1"));
  if (remedy.kind === "remove_argument") return `without ${name}`;
  return `with ${name}=${cut(escapedJson(remedy.value), MAX_SHOWN)}`;
}

function denialLines(denial: ReceivedDenial, hint: string | undefined, paint: Paint): string[] {
  const { code, rule, message, expected, actual, nearest } = denial;
  const place = [placeOf(denial), rule === undefined ? undefined : printable(rule)];
  const where = place.filter((part) => part !== undefined).join(", ");
  const lines = [`  ${paint.bold(printable(code))}${where === "" ? "" : `  ${where}`}`];
  lines.push(`    ${printable(message)}`);
  // A value that the message already contains is left out.
  const rows = Object.entries({ expected, actual, nearest }).flatMap(([label, value]): Row[] =>
    value === undefined || isSaid(message, value)
      ? []
      : [[label, cut(escapedJson(value), MAX_SHOWN)]],
  );
  lines.push(...renderRows(rows, paint, "    "));
  if (hint !== undefined) lines.push(`    hint: ${printable(hint)}`);
  return lines;
}

function placeOf({ hop, discharge, capability }: ReceivedDenial): string | undefined {
  const parts: string[] = [];
  if (capability !== undefined) parts.push(`token ${capability + 1}`);
  if (discharge !== undefined) parts.push(`discharge ${discharge}`);
  if (hop !== undefined) parts.push(hop === 0 ? "the identifier" : `hop ${hop}`);
  return parts.length === 0 ? undefined : parts.join(", ");
}

function isSaid(message: string, value: unknown): boolean {
  return message.includes(Array.isArray(value) ? shownList(value) : shown(value));
}
