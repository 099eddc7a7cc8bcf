import { quotedName } from "../bytes/json.js";
import { suggestions } from "../checks/nearest.js";
import type { CardGrant, CardReading } from "./card.js";
import type { DiscoveryDenial, DiscoveryWarning, Judgement } from "./denial.js";
import type { GrantRequirement, SettledRequirements } from "./requirements.js";

/** Judges whether the card offers each grant as required. */
export function judgeGrants(card: CardReading, requirements: SettledRequirements): Judgement {
  const all = requirements.grants.map((grant) => judgeGrant(card, grant, requirements));
  return {
    denials: all.flatMap(({ denials }) => denials),
    warnings: all.flatMap(({ warnings }) => warnings),
  };
}

function judgeGrant(
  card: CardReading,
  requirement: Required<GrantRequirement>,
  { allowLegacy }: SettledRequirements,
): Judgement {
  const { grant: id, operations, attenuable } = requirement;
  const grants = card.grants ?? [];
  const found = grants.find((grant) => grant.id === id) ?? grants.find(isWholeLegacy);
  if (found === undefined) return { denials: [missing(card, id)], warnings: [] };
  const denials: DiscoveryDenial[] = [];
  const warnings: DiscoveryWarning[] = [];
  const { path } = found;
  if (found.legacy !== undefined) {
    const whose = found.id === id ? id : `${id} is only covered by ${quotedName(found.id)}, which`;
    const meant = found.id === id ? undefined : suggestions()(id, idsOf(card));
    const hint = meant === undefined ? "" : `; did you mean ${quotedName(meant)}?`;
    const message = `${whose} is a legacy grant: it promises less than a capability${hint}`;
    const near = meant === undefined ? {} : { nearest: meant };
    const place = { rule: "grants", message, path, ...near };
    const reason = { ...place, expected: id, actual: found.id.slice(0, 64) };
    if (allowLegacy) warnings.push({ code: "legacy_grant", ...reason });
    else denials.push({ code: "legacy_only", ...reason });
  }
  const near = suggestions();
  for (const operation of operations) {
    if (found.operations.includes(operation) || found.operations.includes("*")) continue;
    const nearest = near(operation, found.operations);
    const message = `the grant ${id} has no operation ${quotedName(operation)}`;
    const hint = nearest === undefined ? {} : { nearest };
    denials.push({
      code: "grant_operation_missing",
      rule: "grants",
      message,
      path,
      expected: operation,
      ...hint,
    });
  }
  if (attenuable && !found.attenuable) {
    const message = `the grant ${quotedName(found.id)} cannot be narrowed or passed on`;
    denials.push({
      code: "grant_not_attenuable",
      rule: "grants",
      message,
      path,
      expected: true,
      actual: false,
    });
  }
  return { denials, warnings };
}

/**
 * Returns whether a grant is a legacy grant of every operation. Such a grant covers every required grant, with
 * reduced guarantees.
 */
function isWholeLegacy({ legacy, operations }: CardGrant): boolean {
  return legacy !== undefined && operations.includes("*");
}

function missing({ grants }: CardReading, id: string): DiscoveryDenial {
  const nearest = suggestions()(id, idsOf({ grants }));
  const message =
    grants === undefined
      ? `the agent offers no grants, so not ${quotedName(id)}`
      : `the agent does not offer the grant ${quotedName(id)}`;
  const hint = nearest === undefined ? {} : { nearest };
  return { code: "grant_missing", rule: "grants", message, expected: id, ...hint };
}

function idsOf({ grants }: Pick<CardReading, "grants">): readonly string[] {
  return (grants ?? []).map((grant) => grant.id);
}
