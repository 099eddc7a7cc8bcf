import {
  type CapabilityRegistry,
  isVendorCapability,
  type RegisteredCapability,
  registeredCapability,
} from "./registry.js";
import { compareVersions, type ProtocolVersion, parseVersion } from "./versions.js";

/** A rule of stability that a registry breaks. */
export interface StabilityProblem {
  readonly code: /** A version that cannot be read, a tier that does not fit, a name that is there twice. */
    | "entry_malformed"
    | "deprecated_in_minor"
    | "deprecated_at_once"
    | "removed_undeprecated"
    /** Removed within the major release that deprecates it. */
    | "removed_early"
    /** Not the capability it was: it has less, or needs more. */
    | "narrowed"
    /** The date of something published is another one now. */
    | "history_changed";
  /** Its name. */
  readonly capability: string;
  /** A sentence for people. */
  readonly message: string;
}

type Report = (code: StabilityProblem["code"], message: string) => void;

/**
 * Checks one registry: a capability is marked as deprecated by a major release after the one that
 * introduced it, and is removed by a later major release than the one that deprecates it.
 *
 * @returns Everything that breaks a rule; empty for a registry that keeps all of them.
 * @example
 * import { CAPABILITY_REGISTRY, checkRegistry } from "proviso/discovery";
 *
 * console.log(checkRegistry(CAPABILITY_REGISTRY)); // []
 */
export function checkRegistry(registry: CapabilityRegistry): readonly StabilityProblem[] {
  const problems: StabilityProblem[] = [];
  const seen = new Set<string>();
  for (const entry of registry.capabilities) {
    const report: Report = (code, message) => {
      problems.push({ code, capability: entry.name, message: `${entry.name}: ${message}` });
    };
    if (seen.has(entry.name)) report("entry_malformed", "it is there twice");
    seen.add(entry.name);
    checkEntry(entry, registry, report);
  }
  return problems;
}

/**
 * Checks what a new version of a registry does to the one before it: nothing is taken away but what
 * an earlier major release deprecated, and what stays is only extended.
 *
 * @returns Everything that breaks a rule, in `next` by itself as well.
 */
export function checkStability(
  previous: CapabilityRegistry,
  next: CapabilityRegistry,
): readonly StabilityProblem[] {
  const problems: StabilityProblem[] = [...checkRegistry(next)];
  const from = parseVersion(previous.version);
  const to = parseVersion(next.version);
  if (from === undefined || to === undefined || compareVersions(to, from) < 0) {
    const message = `version ${next.version} does not follow ${previous.version}`;
    return [...problems, { code: "entry_malformed", capability: "", message }];
  }
  for (const before of previous.capabilities) {
    const report: Report = (code, message) => {
      problems.push({ code, capability: before.name, message: `${before.name}: ${message}` });
    };
    const after = registeredCapability(before.name, next);
    if (after === undefined) checkRemoval(before, to, report);
    else checkChange(before, after, { from, to }, report);
  }
  for (const { name, tier, introduced } of next.capabilities) {
    if (registeredCapability(name, previous) !== undefined) continue;
    const since = parseVersion(introduced);
    const isOld = since === undefined || compareVersions(since, from) <= 0;
    const report = (code: StabilityProblem["code"], message: string): void => {
      problems.push({ code, capability: name, message: `${name}: ${message}` });
    };
    if (isOld) {
      report("history_changed", `it is new, and says that ${introduced} introduced it`);
    }
    if (tier === "implicit" && to.major === from.major) {
      report("narrowed", "agents of this major release do not all have it");
    }
  }
  return problems;
}

function checkEntry(
  entry: RegisteredCapability,
  registry: CapabilityRegistry,
  report: Report,
): void {
  const { name, tier, supersededBy } = entry;
  if (!/^[a-z]+(_[a-z]+)*$/.test(name) || isVendorCapability(name)) {
    report("entry_malformed", "a name is of lower-case words, joined by underscores");
  }
  const dates = ["introduced", "deprecated", "removed"] as const;
  for (const date of dates) {
    const text = entry[date];
    if (text === undefined || parseVersion(text) !== undefined) continue;
    report("entry_malformed", `${date}: ${JSON.stringify(text)} is not a version`);
  }
  const [introduced, deprecated, removed] = dates.map((date) => parseVersion(entry[date] ?? ""));
  const current = parseVersion(registry.version);
  const isDeprecated =
    deprecated !== undefined && current !== undefined && compareVersions(deprecated, current) <= 0;
  if (isDeprecated !== (tier === "deprecated")) {
    report("entry_malformed", `the tier ${tier} does not fit when it is deprecated`);
  }
  if (supersededBy !== undefined && registeredCapability(supersededBy, registry) === undefined) {
    report("entry_malformed", `superseded by ${JSON.stringify(supersededBy)}, which is not there`);
  }
  if (deprecated !== undefined && deprecated.minor !== 0) {
    report("deprecated_in_minor", `${entry.deprecated} is no major release`);
  }
  if (
    deprecated !== undefined &&
    introduced !== undefined &&
    deprecated.major <= introduced.major
  ) {
    report(
      "deprecated_at_once",
      `introduced in ${entry.introduced}, deprecated in ${entry.deprecated}`,
    );
  }
  if (removed === undefined) return;
  if (deprecated === undefined) {
    report("removed_undeprecated", `removed in ${entry.removed}, and never deprecated`);
  } else if (removed.major <= deprecated.major) {
    const from = deprecated.major + 1;
    report("removed_early", `removed in ${entry.removed}; that is possible from ${from}.0 on`);
  }
}

function checkRemoval(before: RegisteredCapability, to: ProtocolVersion, report: Report): void {
  const deprecated = parseVersion(before.deprecated ?? "");
  if (deprecated === undefined) {
    report("removed_undeprecated", "it is gone, and was never deprecated");
  } else if (to.major <= deprecated.major) {
    report("removed_early", `it is gone; that is possible from ${deprecated.major + 1}.0 on`);
  }
}

function checkChange(
  before: RegisteredCapability,
  after: RegisteredCapability,
  { from, to }: { readonly from: ProtocolVersion; readonly to: ProtocolVersion },
  report: Report,
): void {
  for (const date of ["introduced", "deprecated", "removed"] as const) {
    const was = parseVersion(before[date] ?? "");
    // What was announced for later may still be put off, or taken back.
    const isPast = was !== undefined && compareVersions(was, from) <= 0;
    if (!isPast || before[date] === after[date]) continue;
    report("history_changed", `${date}: ${before[date]} is now ${after[date] ?? "absent"}`);
  }
  const marked = parseVersion(after.deprecated ?? "");
  if (
    before.deprecated === undefined &&
    marked !== undefined &&
    compareVersions(marked, from) <= 0
  ) {
    report("history_changed", `it says that ${after.deprecated} deprecated it, which it did not`);
  }
  if (before.tier === "implicit" && after.tier === "declared") {
    report("narrowed", "every agent had it, and now it has to be declared");
  }
  if (before.tier !== "implicit" && after.tier === "implicit" && to.major === from.major) {
    report("narrowed", "agents of this major release do not all have it");
  }
  if (to.major !== from.major) return;
  if (before.needs !== after.needs && after.needs !== undefined) {
    report("narrowed", `it needs ${after.needs} now`);
  }
  if (after.propagates === true && before.propagates !== true) {
    report("narrowed", "it depends on delegates now");
  }
}
