import { emptyRules } from "../caveats/meet.js";
import { parseTime } from "../caveats/time.js";
import type { Inspection, InspectionWarning } from "./inspection.js";

// A token that lives longer than a day deserves a look.
const LONG = 24 * 60 * 60 * 1000;

/**
 * Returns the warnings for a token's holder.
 *
 * @param over - Message about the limit that the token exceeds, if any.
 * @param now - The moment to compare times with, in milliseconds since 1970.
 */
export function warningsFor(
  inspection: Omit<Inspection, "warnings">,
  over: string | undefined,
  now: number,
): InspectionWarning[] {
  if (inspection.capability === undefined) {
    const message =
      "this is a macaroon, but not a capability of proviso: every check here refuses it";
    return [{ code: "not_a_capability", message }];
  }
  const warnings: InspectionWarning[] = [];
  for (const { number, kind, problems } of inspection.links) {
    if (kind !== "unreadable") continue;
    const why = (problems ?? []).map((problem) => problem.message).join("; ");
    const message = `link ${number} would be refused: ${why}`;
    warnings.push({ code: "unreadable_caveat", message });
  }
  warnings.push(...timeWarnings(inspection, now));
  const { authority, links, discharges } = inspection;
  if (authority.operations === undefined) {
    const message = "no hop names operations, so every operation of its grant is allowed";
    warnings.push({ code: "no_operations", message });
  }
  const empty = emptyRules(authority);
  if (empty.length > 0) {
    const message = `the hops contradict each other in ${empty.join(", ")}: nothing is allowed`;
    warnings.push({ code: "nothing_left", message });
  }
  const needed = [{ links }, ...discharges].flatMap((one) => one.links);
  const open = needed.filter((link) => link.kind === "third-party").length - discharges.length;
  if (open > 0) {
    const message = `${open} third-party ${open === 1 ? "caveat needs a discharge" : "caveats need discharges"}`;
    warnings.push({ code: "discharge_needed", message });
  }
  if (over !== undefined) {
    warnings.push({ code: "over_limit", message: `every check would refuse it: ${over}` });
  }
  return warnings;
}

function timeWarnings(
  { authority }: Omit<Inspection, "warnings">,
  now: number,
): InspectionWarning[] {
  const warnings: InspectionWarning[] = [];
  const { expires, notBefore } = authority;
  const end = expires === undefined ? undefined : parseTime(expires);
  if (end === undefined) {
    const message = "no hop says when the token expires, so every check refuses it";
    warnings.push({ code: "no_expiry", message });
  } else if (end <= now) {
    warnings.push({ code: "expired", message: `it expired at ${expires}` });
  } else if (end - now > LONG) {
    warnings.push({ code: "long_expiry", message: "it lives for more than a day" });
  }
  const start = notBefore === undefined ? undefined : parseTime(notBefore);
  if (start !== undefined && start > now) {
    warnings.push({ code: "not_yet_valid", message: `it is not valid before ${notBefore}` });
  }
  return warnings;
}
