import type { DecisionCode } from "../../src/agent/parties/approval-decisions.js";
import { decidersOf } from "../../src/agent/parties/approval-rules.js";
import type { Approval } from "../../src/agent/parties/records.js";
import type { HopInit } from "../../src/caveats/hop.js";
import { forOperations } from "../../src/caveats/operation-entries.js";
import { mistakesIn } from "../../src/caveats/operation-mistakes.js";
import { normalizeHop } from "../../src/caveats/write-hop.js";
import { nearest } from "../../src/checks/nearest.js";
import { asUsage, CliError, EXIT, usageError } from "../exit.js";
import { quoted } from "../output.js";
import { nameOf } from "./words.js";

const ADVICE: { readonly [Code in DecisionCode]?: string } = {
  approval_settled: "proviso grants show says how it stands; proviso grants revoke takes it away",
  approval_expired: "the agent has to ask again",
  approver_denied: "proviso grants show says who decides; give one of them with --as",
  user_code_invalid: "give the code that the agent shows its user: --user-code XXXX-XXXX",
};

export function refusedDecision(code: DecisionCode, message: string): CliError {
  const usage = code === "hop_invalid" || code === "approval_unknown";
  return new CliError({
    code,
    message,
    hint: ADVICE[code],
    exitCode: usage ? EXIT.usage : EXIT.refused,
  });
}

/**
 * Returns the approver on whose behalf the operator decides.
 *
 * @throws CliError if `given` is not an approver, or if it is absent and there is not exactly one approver.
 */
export function approverFor(approval: Approval, given: string | undefined): string {
  const approvers = decidersOf(approval);
  if (given !== undefined) {
    if (approvers === undefined || approvers.includes(given)) return given;
    const near = nearest(given, approvers);
    const hint =
      near === undefined ? `those who decide: ${approvers.join(", ")}` : `did you mean ${near}?`;
    const message = `${quoted(given)} does not decide about this`;
    throw new CliError({ code: "approver_denied", message, exitCode: EXIT.refused, hint });
  }
  const [only, ...others] = approvers ?? [];
  if (only !== undefined && others.length === 0) return only;
  const who = approvers === undefined ? "the user that takes the agent on" : approvers.join(", ");
  throw usageError("say whose decision it is, with --as", `those who may decide: ${who}`);
}

/**
 * Returns the indexes of the requested grants that the user names by name, grant id or index.
 *
 * @throws CliError for an unknown name.
 */
export function placesOf(
  { subject: { asked } }: Approval,
  named: readonly string[] | undefined,
): readonly number[] | undefined {
  return named?.flatMap((name) => {
    const places = asked.flatMap((one, place) =>
      [String(place), nameOf(one), one.grant].includes(name) ? [place] : [],
    );
    if (places.length > 0) return places;
    const names = asked.map(nameOf);
    const near = nearest(name, names);
    const hint = near === undefined ? `asked for: ${names.join(", ")}` : `did you mean ${near}?`;
    throw usageError(`--only ${quoted(name)}: the request does not ask for it`, hint);
  });
}

/**
 * Returns a hop for each granted grant, by the grant's index. A limit on the arguments of one operation goes
 * only to the grants that have this operation.
 *
 * @throws CliError for limits on the arguments of an operation that none of the grants has.
 */
export function hopsFor(
  { subject: { asked } }: Approval,
  places: readonly number[] | undefined,
  hop: HopInit,
): { readonly [place: string]: HopInit } {
  if (Object.keys(hop).length === 0) return {};
  const granted = asked.flatMap(({ operations }, place) =>
    places?.includes(place) === false ? [] : [{ place, operations }],
  );
  const every = granted.flatMap(({ operations }) => operations);
  const [mistake] = asUsage(() => mistakesIn(normalizeHop(hop), every));
  if (mistake !== undefined) throw usageError(mistake.message);
  const hops = granted.map(
    ({ place, operations }) => [String(place), forOperations(hop, operations)] as const,
  );
  return Object.fromEntries(hops.filter(([, own]) => Object.keys(own).length > 0));
}
