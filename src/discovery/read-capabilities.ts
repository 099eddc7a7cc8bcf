import { isJsonObject, type JsonObject } from "../bytes/json.js";
import { objectIn } from "../client/received.js";
import { type Faults, pointer } from "./faults.js";
import { olderFlag } from "./older-form.js";
import {
  agreed,
  camelCase,
  type Holder,
  isFlag,
  ofKind,
  type Place,
  placesOf,
  snakeCase,
} from "./places.js";
import { CAPABILITY_REGISTRY, isVendorCapability } from "./registry.js";

const KNOWN = CAPABILITY_REGISTRY.capabilities;
/** What stands under `capabilities` and is no vendor's: A2A's `extensions`, and the registry's names. */
const KNOWN_SPELLINGS = new Set(
  ["extensions", ...KNOWN.map(({ name }) => camelCase(name))].flatMap((name) => [
    name,
    snakeCase(name),
  ]),
);
/** Capabilities of one card that no registry has. */
const MOST = 256;

/** The flags under `capabilities`, A2A's own among them, and in the contract's params. */
export function readCapabilities(
  card: JsonObject,
  contract: readonly Holder[],
  faults: Faults,
): ReadonlyMap<string, boolean> {
  const top: Holder = { path: "/capabilities", value: objectIn(card["capabilities"]) };
  const params = ofKind(placesOf(contract, "capabilities"), isJsonObject, "an object", faults);
  const found = new Map<string, boolean>();
  for (const { name, tier, isOwnFlag } of KNOWN) {
    const holders = isOwnFlag === true ? [top] : [top, ...params];
    const places = [...placesOf(holders, camelCase(name)), ...olderFlag(name, card)];
    const flags = ofKind(places, isFlag, "true or false", faults);
    const place = agreed(flags, (a, b) => a === b, faults, String);
    if (place === undefined) continue;
    found.set(name, place.value);
    if (tier !== "implicit" || place.value) continue;
    faults.add("contradiction", place.path, `denies ${name}, which every agent has`);
  }
  for (const [name, value] of readOthers(top, params, faults)) found.set(name, value);
  for (const { name, needs } of KNOWN) {
    if (needs === undefined || found.get(name) !== true) continue;
    const denied = placesOf([top], needs).find(({ value }) => value === false);
    if (denied === undefined) continue;
    faults.add("contradiction", denied.path, `is false, and ${name} needs it to be true`);
  }
  return found;
}

/** Vendors' capabilities, and names that no registry has: as they are written. */
function readOthers(
  top: Holder,
  params: readonly Holder[],
  faults: Faults,
): ReadonlyMap<string, boolean> {
  const all = [top, ...params].flatMap(({ path, value }) =>
    Object.entries(value).flatMap(([name, flag]): (Place<boolean> & { name: string })[] => {
      if (KNOWN_SPELLINGS.has(name) || flag === null) return [];
      const place = { path: pointer(path, name), value: flag };
      // At the top stand A2A's own members too, some of which may be newer than this reader.
      const isOwn = path === top.path && !isVendorCapability(name) && !isFlag(flag);
      const [read] = isOwn ? [] : ofKind([place], isFlag, "true or false", faults);
      return read === undefined ? [] : [{ ...read, name }];
    }),
  );
  if (all.length > MOST) faults.add("too_many", top.path, `more than ${MOST} capabilities`);
  const places = new Map<string, Place<boolean>[]>();
  for (const { name, ...place } of all.slice(0, MOST)) {
    places.set(name, [...(places.get(name) ?? []), place]);
  }
  const found = new Map<string, boolean>();
  for (const [name, ones] of places) {
    const place = agreed(ones, (a, b) => a === b, faults, String);
    if (place !== undefined) found.set(name, place.value);
  }
  contradictSpellings(places, faults);
  return found;
}

/** A name in both spellings is one flag; URIs are compared as they are. */
function contradictSpellings(
  places: ReadonlyMap<string, readonly Place<boolean>[]>,
  faults: Faults,
): void {
  const spelled = new Map<string, Place<boolean>>();
  for (const [name, [place]] of places) {
    if (place === undefined || name.includes(":")) continue;
    const other = spelled.get(snakeCase(name));
    spelled.set(snakeCase(name), other ?? place);
    if (other !== undefined) agreed([other, place], (a, b) => a === b, faults, String);
  }
}
