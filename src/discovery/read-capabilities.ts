import { isJsonObject, type JsonObject } from "../bytes/json.js";
import { objectIn } from "../client/received.js";
import { type Faults, pointer } from "./faults.js";
import {
  agreed,
  camelCase,
  type Field,
  fieldsOf,
  type Holder,
  isFlag,
  ofKind,
  snakeCase,
} from "./fields.js";
import { olderFlag } from "./older-form.js";
import { type CapabilityRegistry, isVendorCapability } from "./registry.js";

/** Capabilities of one card that no registry has. */
const MOST = 256;

/** The flags under `capabilities`, A2A's own among them, and in the contract's params. */
export function readCapabilities(
  card: JsonObject,
  contract: readonly Holder[],
  { capabilities: known }: CapabilityRegistry,
  faults: Faults,
): ReadonlyMap<string, boolean> {
  const top: Holder = { path: "/capabilities", value: objectIn(card["capabilities"]) };
  const params = ofKind(fieldsOf(contract, "capabilities"), isJsonObject, "an object", faults);
  const found = new Map<string, boolean>();
  for (const { name, tier, isOwnFlag } of known) {
    const holders = isOwnFlag === true ? [top] : [top, ...params];
    const places = [...fieldsOf(holders, camelCase(name)), ...olderFlag(name, card)];
    const flags = ofKind(places, isFlag, "true or false", faults);
    const place = agreed(flags, (a, b) => a === b, faults, String);
    if (place === undefined) continue;
    found.set(name, place.value);
    if (tier !== "implicit" || place.value) continue;
    faults.add("contradiction", place.path, `denies ${name}, which every agent has`);
  }
  const spellings = new Set([
    "extensions",
    ...known.flatMap(({ name }) => [name, camelCase(name)]),
  ]);
  const others = [top, ...params].flatMap((holder) => membersBut(spellings, holder));
  for (const [name, value] of readOthers(others, faults)) found.set(name, value);
  for (const { name, needs } of known) {
    if (needs === undefined || found.get(name) !== true) continue;
    const denied = fieldsOf([top], needs).find(({ value }) => value === false);
    if (denied === undefined) continue;
    faults.add("contradiction", denied.path, `is false, and ${name} needs it to be true`);
  }
  return found;
}

interface Member extends Field {
  readonly name: string;
}

function membersBut(known: ReadonlySet<string>, { path, value }: Holder): readonly Member[] {
  return Object.entries(value).flatMap(([name, inner]) =>
    known.has(name) || inner === null ? [] : [{ name, path: pointer(path, name), value: inner }],
  );
}

/** Vendors' capabilities as they are written; and flags of any other name, which say nothing. */
function readOthers(members: readonly Member[], faults: Faults): ReadonlyMap<string, boolean> {
  const found = new Map<string, boolean>();
  const vendors = new Map<string, Field<boolean>[]>();
  const flags = members.filter(({ name, value }) => isVendorCapability(name) || isFlag(value));
  if (flags.length > MOST)
    faults.add("too_many", "/capabilities", `more than ${MOST} capabilities`);
  for (const { name, ...place } of flags.slice(0, MOST)) {
    const [flag] = ofKind([place], isFlag, "true or false", faults);
    if (flag === undefined) continue;
    if (!found.has(name)) found.set(name, flag.value);
    if (isVendorCapability(name)) vendors.set(name, [...(vendors.get(name) ?? []), flag]);
  }
  for (const ones of vendors.values()) agreed(ones, (a, b) => a === b, faults, String);
  contradictSpellings(vendors, faults);
  return found;
}

/** A name in both spellings is one flag; URIs are compared as they are. */
function contradictSpellings(
  places: ReadonlyMap<string, readonly Field<boolean>[]>,
  faults: Faults,
): void {
  const spelled = new Map<string, Field<boolean>>();
  for (const [name, [place]] of places) {
    if (place === undefined || name.includes(":")) continue;
    const other = spelled.get(snakeCase(name));
    spelled.set(snakeCase(name), other ?? place);
    if (other !== undefined) agreed([other, place], (a, b) => a === b, faults, String);
  }
}
