import { isJsonObject, type Json } from "../bytes/json.js";
import { objectIn, objectsIn, textsIn } from "../client/received.js";
import { CAPABILITIES_URI } from "./card.js";
import { type CardChange, type ChangeImpact, change, type Difference } from "./change.js";
import { pointer } from "./faults.js";
import {
  type CapabilityRegistry,
  isVendorCapability,
  registeredCapability,
  tierAt,
} from "./registry.js";
import { versionsWith } from "./schema-members.js";
import {
  isInAny,
  type ProtocolVersion,
  parseVersion,
  rangeText,
  type VersionRange,
} from "./versions.js";

// Determines the impact of each difference between the meanings of two cards, area by area. Readers ignore a
// property that neither A2A nor an extension of this package defines, so a change of that property is safe. Any
// other difference is breaking unless it is known to be harmless.

/**
 * Returns the changes for a difference. A difference between two lists is one change for each added or removed
 * item.
 */
export function changesOf(
  difference: Difference,
  registry: CapabilityRegistry,
): readonly CardChange[] {
  const [area = "", name = "", member = ""] = difference.path;
  switch (area) {
    case "capabilities":
      return [capability(difference, name, registry)];
    case "interfaces":
      if (member === "versions") return [versions(difference)];
      // Any other property of an interface is a vendor's.
      return [difference.path.length === 2 ? place(difference) : change(difference, "safe")];
    case "grants":
      return grant(difference, member);
    case "delegates":
      return delegates(difference);
    case "extensions":
      return [extension(difference)];
    case "security":
      return security(difference);
    case "skills":
      return skill(difference, member);
    case "signed":
      return [change(difference, difference.after === true ? "safe" : "breaking")];
    // The effect of a range shows in the versions of the interfaces.
    case "range":
    case "signatures":
    case "preference":
      return [change(difference, "safe")];
    case "features":
      return [flag(difference, name)];
    default:
      return top(difference, name);
  }
}

function capability(
  difference: Difference,
  name: string,
  registry: CapabilityRegistry,
): CardChange {
  const entry = registeredCapability(name, registry);
  if (entry === undefined && !isVendorCapability(name)) return flag(difference, name);
  if (difference.after !== true) {
    return change(difference, difference.before === true ? "breaking" : "safe");
  }
  const version = parseVersion(registry.version);
  const isDeprecated =
    entry !== undefined && version !== undefined && tierAt(entry, version) === "deprecated";
  const supersedes = registry.capabilities.some(({ supersededBy }) => supersededBy === name);
  return change(difference, isDeprecated || supersedes ? "deprecating" : "safe");
}

/** Returns the change for an interface that is new or gone. */
function place(difference: Difference): CardChange {
  const { before, after } = difference;
  const spoken = words(rangesIn(objectIn(before ?? after)["versions"]));
  return before === undefined
    ? change(difference, "safe", `it is new, and speaks ${spoken}`)
    : change(difference, "breaking", `it is gone, and spoke ${spoken}`);
}

function words(ranges: readonly VersionRange[]): string {
  return ranges.length === 0 ? "no known version" : ranges.map(rangeText).join(", ");
}

/**
 * Returns the change of an interface's versions: breaking if the interface no longer speaks one of its old
 * versions.
 */
function versions({ path, before, after }: Difference): CardChange {
  const [was, is] = [rangesIn(before), rangesIn(after)];
  // If there are too many ranges to compare, the change counts as a loss.
  const isLost =
    was.length + is.length > MOST_RANGES ||
    edges([...was, ...is]).some((one) => isInAny(one, was) && !isInAny(one, is));
  const texts = { before: was.map(rangeText), after: is.map(rangeText) };
  const message = `${words(was)} ${was.length > 1 ? "are" : "is"} now ${words(is)}`;
  return change({ path, ...texts }, isLost ? "breaking" : "safe", message);
}

const MOST_RANGES = 256;

/**
 * Returns the versions at which a set of ranges begins or ends, and the versions next to them. Two different
 * sets differ at one of these versions.
 */
function edges(ranges: readonly VersionRange[]): readonly ProtocolVersion[] {
  return ranges
    .flatMap(({ min, max }) => [min ?? { major: 0, minor: 0 }, max ?? { major: 1e6, minor: 0 }])
    .flatMap(({ major, minor }) => [
      { major, minor: 0 },
      { major: major - 1, minor: 0 },
      { major: major + 1, minor: 0 },
      ...(Number.isFinite(minor) ? [minor - 1, minor, minor + 1] : [1e6]).map((one) => ({
        major,
        minor: one,
      })),
    ])
    .filter(({ major, minor }) => major >= 0 && minor >= 0);
}

function rangesIn(value: Json | undefined): readonly VersionRange[] {
  return objectsIn(value).map(({ min, max }) => {
    const [first, last] = [versionIn(min), versionIn(max)];
    return {
      min: first,
      max: last,
    };
  });
}

function grant(difference: Difference, member: string): readonly CardChange[] {
  const { path, before, after } = difference;
  // The old card does not mention grants.
  if (before === null) return [change(difference, "safe")];
  if (path.length < 3) return [gained(difference)];
  if (member === "operations") return members(difference);
  // `requires` names grants that a caller must also have, so a further name is breaking.
  if (member === "requires") return members(difference, "breaking");
  if (member === "attenuable") return [change(difference, after === true ? "safe" : "breaking")];
  if (member === "legacy") return [change(difference, after === true ? "breaking" : "safe")];
  if (member === "more") return [gained(difference)];
  return [change(difference, "safe")];
}

function delegates(difference: Difference): readonly CardChange[] {
  const { path, before, after } = difference;
  // It is safe to name delegates for the first time. If a card no longer names any, the chain can no longer be
  // judged.
  if (path.length < 2) return [change(difference, before === null ? "safe" : "breaking")];
  if (before !== undefined && after !== undefined) return members(difference);
  return [change(difference, after === undefined ? "safe" : "breaking")];
}

const PARAMS_FOR_PEOPLE = ["notice", "description"];

function extension(difference: Difference): CardChange {
  const { path, before, after } = difference;
  const [, uri, member, param = ""] = path;
  if (path.length === 2) {
    if (before !== undefined) return change(difference, "breaking");
    const isRequired = isJsonObject(after ?? null) && requiredIn(after);
    return change(difference, isRequired ? "breaking" : "safe");
  }
  if (member === "required") return change(difference, after === true ? "breaking" : "safe");
  if (member !== "params") return change(difference, "safe");
  if (uri === CAPABILITIES_URI && path.length === 4) {
    if (PARAMS_FOR_PEOPLE.includes(param)) return change(difference, "safe");
    if (isRelaxed(param, before, after)) return change(difference, "safe");
    if (isStricter(param, after)) return change(difference, "breaking");
  }
  return gained(difference);
}

function requiredIn(value: Json | undefined): boolean {
  return value !== undefined && isJsonObject(value) && value["required"] === true;
}

/** Returns whether the new value of a parameter of the capability extension requires less of callers. */
function isRelaxed(param: string, before: Json | undefined, after: Json | undefined): boolean {
  if (param === "ambientAuthority" || param === "undeclaredAmbient") return after === "accepted";
  if (param === "capabilitiesRequired") return after === false;
  if (param === "mode") return before === "require";
  if (param === "methods") {
    const now = textsIn(after);
    return textsIn(before).every((one) => now.includes(one));
  }
  if (param !== "maxLifetimeSeconds") return false;
  return typeof before === "number" && typeof after === "number" && after > before;
}

/** Returns whether the new value of a parameter of the capability extension makes the agent refuse some callers. */
function isStricter(param: string, after: Json | undefined): boolean {
  if (param === "ambientAuthority" || param === "undeclaredAmbient") return after === "refused";
  if (param === "capabilitiesRequired") return after === true;
  return param === "mode" && after === "require";
}

/**
 * Returns the changes of security requirements. The requirements are alternatives. A new alternative is safe,
 * unless the old card had none and so let anyone call the agent.
 */
function security(difference: Difference): readonly CardChange[] {
  const wasOpen = textsIn(difference.before).length === 0;
  const isOpen = textsIn(difference.after).length === 0;
  if (wasOpen !== isOpen) return [change(difference, isOpen ? "safe" : "breaking")];
  return members(difference);
}

const SKILL_WORDS = ["name", "description", "tags", "examples"];

function skill(difference: Difference, member: string): readonly CardChange[] {
  if (difference.path.length < 3) return [gained(difference)];
  if (SKILL_WORDS.includes(member)) return [change(difference, "safe")];
  if (member === "security") return security(difference);
  if (member === "inputModes" || member === "outputModes") return members(difference);
  return [known(difference, pointer("/skills/*", member))];
}

const WORDS = ["name", "description", "version", "provider", "documentationUrl", "iconUrl"];

function top(difference: Difference, name: string): readonly CardChange[] {
  if (WORDS.includes(name)) return [change(difference, "safe")];
  if (name === "defaultInputModes" || name === "defaultOutputModes") return members(difference);
  const isForPeople = name === "securitySchemes" && difference.path.at(-1) === "description";
  return [isForPeople ? change(difference, "safe") : known(difference, pointer("", name))];
}

/** Returns the change of a flag that is not in the registry, such as A2A's `stateTransitionHistory`. */
function flag(difference: Difference, name: string): CardChange {
  const { before, after } = difference;
  const isBoolean = [before, after].every((one) => one === undefined || typeof one === "boolean");
  if (isBoolean && before !== true) return change(difference, "safe");
  return known(difference, pointer("/capabilities", name));
}

/**
 * Returns the change of a property. The change is safe if no version of A2A has the property, since readers
 * ignore it.
 *
 * @param path - JSON Pointer to the property, with `*` for any array index.
 */
function known(difference: Difference, path: string): CardChange {
  return versionsWith(path).length > 0 ? gained(difference) : change(difference, "safe");
}

/** Returns a change: safe for an added value, breaking for a removed or different value. */
function gained(difference: Difference): CardChange {
  return change(difference, difference.before === undefined ? "safe" : "breaking");
}

/** Returns one change for each string that is gone, and for each string that is new. */
function members(
  difference: Difference,
  impactOfMore: ChangeImpact = "safe",
): readonly CardChange[] {
  const [before, after] = [textsIn(difference.before), textsIn(difference.after)];
  const [was, is] = [new Set(before), new Set(after)];
  // A grant of `*` includes every operation.
  const lost = is.has("*") ? [] : [...was].filter((one) => !is.has(one));
  const more = [...is].filter((one) => !was.has(one));
  const impactOfLess = impactOfMore === "safe" ? "breaking" : "safe";
  const changes = [
    ...lost.map((one) => change({ path: difference.path, before: one }, impactOfLess)),
    ...more.map((one) => change({ path: difference.path, after: one }, impactOfMore)),
  ];
  return changes.length > 0 ? changes : [gained(difference)];
}

function versionIn(value: Json | undefined): ProtocolVersion | undefined {
  const { major, minor } = objectIn(value);
  return typeof major === "number" && typeof minor === "number" ? { major, minor } : undefined;
}
