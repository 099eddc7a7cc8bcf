/** A protocol version. Majors and minors are compared as numbers; a patch part is read and ignored. */
export interface ProtocolVersion {
  readonly major: number;
  /** `Infinity` in the upper bound of a range that has the rest of a major version in it. */
  readonly minor: number;
}

/** A range of protocol versions, both bounds within it. A bound that is absent is open. */
export interface VersionRange {
  readonly min?: ProtocolVersion;
  readonly max?: ProtocolVersion;
}

/** "1", "1.0" and "1.0.3"; no leading zeros, since "1.01" would be read as two versions by two readers. */
const VERSION = /^(0|[1-9]\d{0,5})(?:\.(0|[1-9]\d{0,5}))?(?:\.(?:0|[1-9]\d{0,5}))?$/;

/** Reads a version; `undefined` if the text is not one. A minor that is left out is 0. */
export function parseVersion(text: string): ProtocolVersion | undefined {
  const found = VERSION.exec(text);
  return found === null ? undefined : { major: Number(found[1]), minor: Number(found[2] ?? "0") };
}

/** The version as it is written in a card: `1.0`; `1.x` for the end of a major version. */
export function versionText({ major, minor }: ProtocolVersion): string {
  return `${major}.${Number.isFinite(minor) ? minor : "x"}`;
}

/** Below zero if `a` is the earlier one, above if it is the later one, 0 if they are equal. */
export function compareVersions(a: ProtocolVersion, b: ProtocolVersion): number {
  return a.major - b.major || a.minor - b.minor;
}

/** Tests whether a range contains a version. */
export function isInRange(version: ProtocolVersion, { min, max }: VersionRange): boolean {
  if (min !== undefined && compareVersions(version, min) < 0) return false;
  return max === undefined || compareVersions(version, max) <= 0;
}

/** The part of a range within the major version of `version`; both ends are given. */
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

/** Tests whether one of several ranges contains a version. */
export function isInAny(version: ProtocolVersion, ranges: readonly VersionRange[]): boolean {
  return ranges.some((range) => isInRange(version, range));
}

/** Tests whether a range has its bounds turned round. */
export function isTurnedRound({ min, max }: VersionRange): boolean {
  return min !== undefined && max !== undefined && compareVersions(min, max) > 0;
}

/** A range for people: `1.0`, `1.0 to 1.2`, `1.0 to 1.x`, `1.0 or later`. */
export function rangeText({ min, max }: VersionRange): string {
  if (min === undefined) return max === undefined ? "any" : `${versionText(max)} or earlier`;
  if (max === undefined) return `${versionText(min)} or later`;
  return compareVersions(min, max) === 0
    ? versionText(min)
    : `${versionText(min)} to ${versionText(max)}`;
}
