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
    /** Deprecated before it is introduced, removed before it is deprecated, or introduced in the future. */
    | "versions_out_of_order"
    | "deprecated_in_minor"
    | "removed_undeprecated"
    /** Removed within the major release that deprecates it. */
    | "removed_early"
    /** What supersedes it is not there, or is removed itself. */
    | "successor_missing"
    /** It was in the registry before, and is not listed any more. */
    | "entry_missing"
    /** What was published is another thing now. */
    | "history_changed"
    /** Not the capability it was: it has less, or needs more. */
    | "narrowed";
  /** The rule's number in docs/spec.md, section 14.2. */
  readonly rule: 1 | 2 | 3 | 4 | 5 | 6 | 7;
  /** Its name; empty if the registry as a whole is concerned. */
  readonly capability: string;
  /** A sentence for people. */
  readonly message: string;
}

type Report = (
  code: StabilityProblem["code"],
  rule: StabilityProblem["rule"],
  message: string,
) => void;

function reporter(problems: StabilityProblem[], capability: string): Report {
  const where = capability === "" ? "" : `${capability}: `;
  return (code, rule, message) => {
    problems.push({ code, rule, capability, message: `${where}${message}` });
  };
}

/**
 * Checks one registry: a capability is marked as deprecated by a major release, and is removed by a later
 * major release than the one that deprecates it.
 *
 * @returns Everything that breaks a rule; empty for a registry that keeps all of them.
 * @example
 * import { CAPABILITY_REGISTRY, checkRegistry } from "proviso/discovery";
 *
 * console.log(checkRegistry(CAPABILITY_REGISTRY)); // []
 */
export function checkRegistry(registry: CapabilityRegistry): readonly StabilityProblem[] {
  const problems: StabilityProblem[] = [];
  if (parseVersion(registry.version) === undefined) {
    const message = `${JSON.stringify(registry.version)} is not a version`;
    reporter(problems, "")("entry_malformed", 1, message);
  }
  const seen = new Set<string>();
  for (const entry of registry.capabilities) {
    const report = reporter(problems, entry.name);
    if (seen.has(entry.name)) report("entry_malformed", 1, "it is there twice");
    seen.add(entry.name);
    checkForm(entry, registry, report);
    checkLife(entry, registry, report);
    checkSuccessor(entry, registry, report);
  }
  return problems;
}

/**
 * Checks what a new version of a registry does to the one before it: nothing is taken out of it, and what
 * was said of an earlier version stays.
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
    reporter(problems, "")("history_changed", 5, message);
    if (from === undefined || to === undefined) return problems;
  }
  const step = { from, isMajor: to.major !== from.major };
  for (const before of previous.capabilities) {
    const report = reporter(problems, before.name);
    const after = registeredCapability(before.name, next);
    if (after === undefined) report("entry_missing", 5, "it is not listed any more");
    else checkChange(before, after, step, report);
  }
  for (const entry of next.capabilities) {
    if (registeredCapability(entry.name, previous) !== undefined) continue;
    checkNew(entry, step, reporter(problems, entry.name));
  }
  return problems;
}

interface Step {
  readonly from: ProtocolVersion;
  readonly isMajor: boolean;
}

function checkForm(
  entry: RegisteredCapability,
  { version }: CapabilityRegistry,
  report: Report,
): void {
  const { name, tier } = entry;
  if (!/^[a-z]+(_[a-z]+)*$/.test(name) || isVendorCapability(name)) {
    report("entry_malformed", 1, "a name is of lower-case words, joined by underscores");
  }
  for (const date of ["introduced", "deprecated", "removed"] as const) {
    const text = entry[date];
    if (text === undefined || parseVersion(text) !== undefined) continue;
    report("entry_malformed", 1, `${date}: ${JSON.stringify(text)} is not a version`);
  }
  const deprecated = parseVersion(entry.deprecated ?? "");
  const current = parseVersion(version);
  if (current === undefined) return;
  const isDeprecated = deprecated !== undefined && compareVersions(deprecated, current) <= 0;
  if (isDeprecated === (tier === "deprecated")) return;
  if (isDeprecated && tier === "implicit") return;
  report("entry_malformed", 1, `the tier ${tier} does not fit when it is deprecated`);
}

function checkLife(
  entry: RegisteredCapability,
  { version }: CapabilityRegistry,
  report: Report,
): void {
  const introduced = parseVersion(entry.introduced);
  const deprecated = parseVersion(entry.deprecated ?? "");
  const removed = parseVersion(entry.removed ?? "");
  const current = parseVersion(version);
  const isBefore = (a: ProtocolVersion | undefined, b: ProtocolVersion | undefined): boolean =>
    a !== undefined && b !== undefined && compareVersions(a, b) < 0;
  if (isBefore(current, introduced)) {
    report("versions_out_of_order", 1, `introduced in ${entry.introduced}, after ${version}`);
  }
  if (isBefore(deprecated, introduced)) {
    const message = `introduced in ${entry.introduced}, deprecated in ${entry.deprecated}`;
    report("versions_out_of_order", 1, message);
  }
  if (deprecated !== undefined && deprecated.minor !== 0) {
    report("deprecated_in_minor", 2, `${entry.deprecated} is no major release`);
  }
  if (removed === undefined) return;
  if (deprecated === undefined) {
    report("removed_undeprecated", 3, `removed in ${entry.removed}, and never deprecated`);
    return;
  }
  if (compareVersions(removed, deprecated) <= 0) {
    const message = `deprecated in ${entry.deprecated}, removed in ${entry.removed}`;
    report("versions_out_of_order", 1, message);
  }
  if (removed.major > deprecated.major) return;
  const first = deprecated.major + 1;
  report("removed_early", 3, `removed in ${entry.removed}; that is possible from ${first}.0 on`);
}

function checkSuccessor(
  { supersededBy }: RegisteredCapability,
  registry: CapabilityRegistry,
  report: Report,
): void {
  if (supersededBy === undefined) return;
  const successor = registeredCapability(supersededBy, registry);
  const removed = parseVersion(successor?.removed ?? "");
  const current = parseVersion(registry.version);
  const isGone =
    removed !== undefined && current !== undefined && compareVersions(removed, current) <= 0;
  if (successor !== undefined && !isGone) return;
  const how = isGone ? "removed" : "not there";
  report("successor_missing", 4, `superseded by ${JSON.stringify(supersededBy)}, which is ${how}`);
}

function checkNew(
  { introduced, tier }: RegisteredCapability,
  { from, isMajor }: Step,
  report: Report,
): void {
  const since = parseVersion(introduced);
  if (since !== undefined && compareVersions(since, from) <= 0) {
    report("history_changed", 5, `it is new, and says that ${introduced} introduced it`);
  }
  if (tier !== "implicit" || isMajor) return;
  report("narrowed", 7, "agents of this major release do not all have it");
}

function checkChange(
  before: RegisteredCapability,
  after: RegisteredCapability,
  { from, isMajor }: Step,
  report: Report,
): void {
  if (!isSameVersion(before.introduced, after.introduced)) {
    const message = `introduced: ${before.introduced} is now ${after.introduced}`;
    report("history_changed", 5, message);
  }
  for (const date of ["deprecated", "removed"] as const) {
    const [was, is] = [before[date], after[date]];
    if (was !== undefined && !isSameVersion(was, is)) {
      report("history_changed", 6, `${date}: ${was} is now ${is ?? "absent"}`);
    }
    const marked = was === undefined ? parseVersion(is ?? "") : undefined;
    if (marked !== undefined && compareVersions(marked, from) <= 0) {
      report("history_changed", 6, `it says that it was ${date} in ${is}, which it was not`);
    }
  }
  if (before.supersededBy !== undefined && before.supersededBy !== after.supersededBy) {
    const message = `superseded by ${after.supersededBy ?? "nothing"}, not by ${before.supersededBy}`;
    report("history_changed", 6, message);
  }
  if (isMajor) return;
  if (before.tier === "implicit" && after.tier !== "implicit") {
    report("narrowed", 7, "every agent had it, and now it has to be declared");
  }
  if (before.tier !== "implicit" && after.tier === "implicit") {
    report("narrowed", 7, "agents of this major release do not all have it");
  }
  if (before.needs !== after.needs && after.needs !== undefined) {
    report("narrowed", 7, `it needs ${after.needs} now`);
  }
  if (after.propagates === true && before.propagates !== true) {
    report("narrowed", 7, "it depends on delegates now");
  }
}

function isSameVersion(a: string, b: string | undefined): boolean {
  const [left, right] = [parseVersion(a), parseVersion(b ?? "")];
  return left !== undefined && right !== undefined && compareVersions(left, right) === 0;
}
