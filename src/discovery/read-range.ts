import type { Json } from "../bytes/json.js";
import { type Faults, shown } from "./faults.js";
import { agreed, type Field, fieldsOf, type Holder, isText, ofKind } from "./fields.js";
import {
  compareVersions,
  isTurnedRound,
  type ProtocolVersion,
  parseVersion,
  type VersionRange,
  versionText,
} from "./versions.js";

/** Returns the version range of the card as a whole. A reversed range is a fault. */
export function readRange(holders: readonly Holder[], faults: Faults): VersionRange {
  const min = readBound(holders, "minProtocolVersion", faults);
  const max = readBound(holders, "maxProtocolVersion", faults);
  const range = {
    ...(min === undefined ? {} : { min: min.value }),
    ...(max === undefined ? {} : { max: max.value }),
  };
  if (min === undefined || max === undefined || !isTurnedRound(range)) return range;
  const message = `${versionText(max.value)} comes before ${versionText(min.value)}, the minimum`;
  faults.add("range_reversed", max.path, message, { actual: versionText(max.value) });
  return range;
}

/**
 * Parses the versions in the given fields. An empty string counts as an absent field, as in the JSON of
 * Protocol Buffers.
 */
export function readVersions(
  places: readonly Field[],
  faults: Faults,
): readonly Field<ProtocolVersion>[] {
  return ofKind(places, isText, "a version", faults).flatMap(({ path, value }) => {
    if (value === "") return [];
    const version = parseVersion(value);
    if (version !== undefined) return [{ path, value: version }];
    faults.add("version_unreadable", path, unreadable(value), {
      expected: "1.0",
      actual: value.slice(0, 64),
    });
    return [];
  });
}

function unreadable(value: Json): string {
  return `${shown(value)} is not a version; one is written "1.0"`;
}

function readBound(
  holders: readonly Holder[],
  name: string,
  faults: Faults,
): Field<ProtocolVersion> | undefined {
  const places = readVersions(fieldsOf(holders, name), faults);
  return agreed(places, (a, b) => compareVersions(a, b) === 0, faults, versionText);
}
