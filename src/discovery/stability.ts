import {
  assertRegistry,
  type CapabilityRegistry,
  type RegisteredCapability,
  registeredCapability,
} from "./registry.js";
import { compareVersions, type ProtocolVersion, parseVersion } from "./versions.js";

/** A violation of a stability rule by a registry. */
export interface StabilityProblem {
  readonly code: /** An invalid name or version, versions out of order, a repeated name, or an unusable successor. */
    | "entry_malformed"
    | "deprecated_in_minor"
    /**
     * An entry of the previous registry is missing. Removed capabilities must stay listed, with the version
     * that removed them.
     */
    | "entry_missing"
    | "removed_undeprecated"
    /** The capability is removed in the same major release that deprecated it. */
    | "removed_early"
    /** The capability was changed to provide less or to need more. */
    | "narrowed"
    /** A published version or successor of an entry has changed. */
    | "history_changed";
  /** The rule's number in docs/spec.md, section 14.2. */
  readonly rule: 1 | 2 | 3 | 4 | 5 | 6 | 7;
  /** The capability's name; empty for the registry as a whole. */
  readonly capability: string;
  /** A description of the violation, for people. */
  readonly message: string;
}

type Report = (
  rule: StabilityProblem["rule"],
  code: StabilityProblem["code"],
  message: string,
) => void;

function reporter(problems: StabilityProblem[], capability: string): Report {
  const where = capability === "" ? "" : `${capability}: `;
  return (rule, code, message) => {
    problems.push({ code, rule, capability, message: `${where}${message}` });
  };
}

/**
 * Checks that capabilities are deprecated by the first version of a major release, and removed by a later major
 * release (docs/spec.md, section 14.2).
 *
 * @returns Every violation; empty if there is none.
 * @throws TypeError if the value does not have the form of a registry.
 * @example
 * ```ts
 * import { CAPABILITY_REGISTRY, checkRegistry } from "proviso/discovery";
 *
 * checkRegistry(CAPABILITY_REGISTRY); // => []
 * const early = checkRegistry({
 *   version: "3.0",
 *   capabilities: [
 *     { name: "pause", tier: "declared", introduced: "1.0", deprecated: "2.0", removed: "2.1" },
 *   ],
 * });
 * early.map(({ code }) => code); // => ["removed_early"]
 * ```
 */
export function checkRegistry(registry: CapabilityRegistry): readonly StabilityProblem[] {
  assertRegistry(registry);
  return problemsIn(registry);
}

function problemsIn(registry: CapabilityRegistry): readonly StabilityProblem[] {
  const problems: StabilityProblem[] = [];
  const seen = new Set<string>();
  if (parseVersion(registry.version) === undefined) {
    const message = `${JSON.stringify(registry.version)} is not a version`;
    reporter(problems, "")(1, "entry_malformed", message);
  }
  for (const entry of registry.capabilities) {
    const report = reporter(problems, entry.name);
    if (seen.has(entry.name)) report(1, "entry_malformed", "it is there twice");
    seen.add(entry.name);
    checkEntry(entry, registry, report);
  }
  return problems;
}

/**
 * Checks that a new version of a registry keeps every entry and every published version, and only extends
 * existing entries.
 *
 * @returns Every violation, including those that {@link checkRegistry} finds in `next`.
 * @throws TypeError if a value does not have the form of a registry.
 */
export function checkStability(
  previous: CapabilityRegistry,
  next: CapabilityRegistry,
): readonly StabilityProblem[] {
  assertRegistry(previous, "previous");
  assertRegistry(next, "next");
  const problems: StabilityProblem[] = [...problemsIn(next)];
  const from = parseVersion(previous.version);
  const to = parseVersion(next.version);
  if (from === undefined || to === undefined || compareVersions(to, from) < 0) {
    const message = `version ${next.version} does not follow ${previous.version}`;
    reporter(problems, "")(5, "entry_malformed", message);
    return problems;
  }
  for (const before of previous.capabilities) {
    const report = reporter(problems, before.name);
    const after = registeredCapability(before.name, next);
    if (after === undefined) report(5, "entry_missing", "its entry is missing");
    else checkChange(before, after, { from, to }, report);
  }
  for (const { name, tier, introduced } of next.capabilities) {
    if (registeredCapability(name, previous) !== undefined) continue;
    const since = parseVersion(introduced);
    const isOld = since === undefined || compareVersions(since, from) <= 0;
    const report = reporter(problems, name);
    if (isOld) {
      report(5, "history_changed", `it is new, and says that ${introduced} introduced it`);
    }
    if (tier === "implicit" && to.major === from.major) {
      report(7, "narrowed", "agents of this major release do not all have it");
    }
  }
  return problems;
}

function checkEntry(
  entry: RegisteredCapability,
  registry: CapabilityRegistry,
  report: Report,
): void {
  if (!/^[a-z]+(_[a-z]+)*$/.test(entry.name)) {
    report(1, "entry_malformed", "a name is of lower-case words, joined by underscores");
  }
  const dates = ["introduced", "deprecated", "removed"] as const;
  for (const date of dates) {
    const text = entry[date];
    if (text === undefined || parseVersion(text) !== undefined) continue;
    report(1, "entry_malformed", `${date}: ${JSON.stringify(text)} is not a version`);
  }
  checkDates(entry, registry, report);
  const { supersededBy } = entry;
  if (supersededBy === undefined) return;
  const successor = registeredCapability(supersededBy, registry);
  if (successor === undefined) {
    report(
      4,
      "entry_malformed",
      `superseded by ${JSON.stringify(supersededBy)}, which is not there`,
    );
  } else if (hasCome(parseVersion(successor.removed ?? ""), registry)) {
    report(4, "entry_malformed", `superseded by ${successor.name}, which is removed`);
  }
}

function checkDates(
  entry: RegisteredCapability,
  registry: CapabilityRegistry,
  report: Report,
): void {
  const introduced = parseVersion(entry.introduced);
  const deprecated = parseVersion(entry.deprecated ?? "");
  const removed = parseVersion(entry.removed ?? "");
  const isDated = parseVersion(registry.version) !== undefined;
  if (isDated && introduced !== undefined && !hasCome(introduced, registry)) {
    report(1, "entry_malformed", `introduced in ${entry.introduced}, after ${registry.version}`);
  }
  if (deprecated !== undefined && deprecated.minor !== 0) {
    report(2, "deprecated_in_minor", `${entry.deprecated} is no major release`);
  }
  if (introduced && deprecated && compareVersions(deprecated, introduced) < 0) {
    const dated = `introduced in ${entry.introduced}, deprecated in ${entry.deprecated}`;
    report(1, "entry_malformed", dated);
  }
  if (removed === undefined) return;
  if (deprecated && compareVersions(removed, deprecated) <= 0) {
    const dated = `deprecated in ${entry.deprecated}, removed in ${entry.removed}`;
    report(1, "entry_malformed", dated);
  }
  if (deprecated === undefined) {
    report(3, "removed_undeprecated", `removed in ${entry.removed}, and never deprecated`);
  } else if (removed.major <= deprecated.major) {
    const from = deprecated.major + 1;
    report(3, "removed_early", `removed in ${entry.removed}; that is possible from ${from}.0 on`);
  }
}

/** Returns whether two versions, ignoring patch parts, or two names are the same. */
function isSame(was: string, is: string | undefined): boolean {
  const [a, b] = [parseVersion(was), parseVersion(is ?? "")];
  return was === is || (a !== undefined && b !== undefined && compareVersions(a, b) === 0);
}

/** Returns whether a version is the registry's version or an earlier one. */
function hasCome(version: ProtocolVersion | undefined, registry: CapabilityRegistry): boolean {
  const current = parseVersion(registry.version);
  return version !== undefined && current !== undefined && compareVersions(version, current) <= 0;
}

function checkChange(
  before: RegisteredCapability,
  after: RegisteredCapability,
  { from, to }: { readonly from: ProtocolVersion; readonly to: ProtocolVersion },
  report: Report,
): void {
  for (const member of ["introduced", "deprecated", "removed", "supersededBy"] as const) {
    const [was, is] = [before[member], after[member]];
    if (was === undefined || isSame(was, is)) continue;
    const rule = member === "introduced" ? 5 : 6;
    report(rule, "history_changed", `${member}: ${was} is now ${is ?? "absent"}`);
  }
  for (const date of ["deprecated", "removed"] as const) {
    const set = before[date] === undefined ? parseVersion(after[date] ?? "") : undefined;
    if (set === undefined || compareVersions(set, from) > 0) continue;
    report(6, "history_changed", `${date}: set for ${after[date]}, which has been without it`);
  }
  if (before.tier === "implicit" && after.tier === "declared" && to.major === from.major) {
    report(7, "narrowed", "every agent had it, and now it has to be declared");
  }
  if (before.tier === "declared" && after.tier === "implicit" && to.major === from.major) {
    report(7, "narrowed", "agents of this major release do not all have it");
  }
  if (to.major !== from.major) return;
  if (before.needs !== after.needs && after.needs !== undefined) {
    report(7, "narrowed", `it needs ${after.needs} now`);
  }
  if (after.propagates === true && before.propagates !== true) {
    report(7, "narrowed", "it depends on delegates now");
  }
}
