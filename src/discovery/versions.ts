/** A protocol version. Major and minor parts are compared as numbers; a patch part is ignored. */
export interface ProtocolVersion {
  readonly major: number;
  /** `Infinity` in the upper bound of a range that reaches to the end of a major version. */
  readonly minor: number;
}

/** A range of protocol versions, bounds included. An absent bound is open. */
export interface VersionRange {
  readonly min?: ProtocolVersion;
  readonly max?: ProtocolVersion;
}

/** Matches "1", "1.0" and "1.0.3". Leading zeros do not match, since readers may differ on "1.01". */
const VERSION = /^(0|[1-9]\d{0,5})(?:\.(0|[1-9]\d{0,5}))?(?:\.(?:0|[1-9]\d{0,5}))?$/;

/** Parses a version; `undefined` if the string is not a version. A missing minor part is 0. */
export function parseVersion(text: string): ProtocolVersion | undefined {
  const found = VERSION.exec(text);
  return found === null ? undefined : { major: Number(found[1]), minor: Number(found[2] ?? "0") };
}

/** Formats a version as in a card: `1.0`; `1.x` for the end of a major version. */
export function versionText({ major, minor }: ProtocolVersion): string {
  return `${major}.${Number.isFinite(minor) ? minor : "x"}`;
}

/**
 * Compares two versions. Returns a number below 0 if `a` is earlier, above 0 if `a` is later, and 0 if they are
 * equal.
 */
export function compareVersions(a: ProtocolVersion, b: ProtocolVersion): number {
  return a.major - b.major || a.minor - b.minor;
}

/** Tests whether a range contains a version. */
export function isInRange(version: ProtocolVersion, { min, max }: VersionRange): boolean {
  if (min !== undefined && compareVersions(version, min) < 0) return false;
  return max === undefined || compareVersions(version, max) <= 0;
}

/** Returns the part of a range within the major version of `version`, with both bounds. */
export function withinMajor({ min, max }: VersionRange, { major }: ProtocolVersion): VersionRange {
  const [first, last] = [
    { major, minor: 0 },
    { major, minor: Number.POSITIVE_INFINITY },
  ];
  return {
    min: min !== undefined && compareVersions(min, first) > 0 ? min : first,
    max: max !== undefined && compareVersions(max, last) < 0 ? max : last,
  };
}

/** Returns whether at least one of the ranges contains a version. */
export function isInAny(version: ProtocolVersion, ranges: readonly VersionRange[]): boolean {
  return ranges.some((range) => isInRange(version, range));
}

/** Tests whether the bounds of a range are reversed. */
export function isTurnedRound({ min, max }: VersionRange): boolean {
  return min !== undefined && max !== undefined && compareVersions(min, max) > 0;
}

/** Formats a range for people: `1.0`, `1.0 to 1.2`, `1.0 to 1.x`, `1.0 or later`. */
export function rangeText({ min, max }: VersionRange): string {
  if (min === undefined) return max === undefined ? "any" : `${versionText(max)} or earlier`;
  if (max === undefined) return `${versionText(min)} or later`;
  return compareVersions(min, max) === 0
    ? versionText(min)
    : `${versionText(min)} to ${versionText(max)}`;
}
