import { isDeeperThan, isJsonObject, type Json, type JsonObject } from "../bytes/json.js";
import { plainObject } from "../checks/plain.js";
import { objectIn, textIn } from "../client/received.js";
import { CAPABILITIES_URI, type CardReading, DISCOVERY_URI } from "./card.js";
import { olderFlag } from "./card-version.js";
import { createFaults, type Faults, pointer, shown } from "./faults.js";
import {
  agreed,
  camelCase,
  type Field,
  fieldsOf,
  type Holder,
  isFlag,
  isList,
  isText,
  ofKind,
  snakeCase,
} from "./fields.js";
import { readDelegates, readGrants } from "./read-grants.js";
import { readInterfaces } from "./read-interfaces.js";
import { readRange } from "./read-range.js";
import { CAPABILITY_REGISTRY, type CapabilityRegistry, isVendorCapability } from "./registry.js";

/** Maximum nesting depth of arrays and objects. No real card is nested that deep. */
export const MAX_CARD_DEPTH = 64;
/** Maximum number of extensions in one card. */
const MAX_EXTENSIONS = 128;

/**
 * Reads a card. Accepts any JSON; problems are in `faults`. A field of the discovery contract may be at the top
 * level or in the params of {@link DISCOVERY_URI}, in camelCase or snake_case. Two different values of one
 * field are a contradiction.
 *
 * @param document - The result of `JSON.parse`.
 * @param registry - The registry of known capabilities; this package's registry unless given.
 * @throws TypeError if an object is not a plain object, for example a Promise.
 */
export function readCard(
  document: Json,
  registry: CapabilityRegistry = CAPABILITY_REGISTRY,
): CardReading {
  const faults = createFaults();
  if (!isJsonObject(document)) {
    faults.add("kind", "", `expected an object, not ${shown(document)}`);
    return { ...NOTHING, faults: faults.list };
  }
  plainObject(document, "document");
  if (isDeeperThan(document, MAX_CARD_DEPTH)) {
    faults.add("too_deep", "", `nested more than ${MAX_CARD_DEPTH} deep`);
    return { ...NOTHING, document, faults: faults.list };
  }
  if (!isText(document["name"] ?? null)) faults.add("kind", "/name", "expected a string");
  const { uris, contract, capability } = readExtensions(document, faults);
  const top: Holder = { path: "", value: document };
  const range = readRange([top, ...contract], faults);
  return {
    document,
    name: textIn(document["name"]) ?? "",
    version: textIn(document["version"]) ?? "",
    interfaces: readInterfaces(document, contract, range, faults),
    range,
    capabilities: readCapabilities(document, contract, registry, faults),
    extensions: uris,
    grants: readGrants([...capability, top], faults),
    delegates: readDelegates(contract, registry, faults),
    signatures:
      ofKind(fieldsOf([top], "signatures"), isList, "an array", faults)[0]?.value.length ?? 0,
    faults: faults.list,
  };
}

/**
 * Returns the params of the first entry of an extension; empty if the entry has no params, `undefined` if the
 * card does not list the extension.
 */
export function extensionParams(card: JsonObject, uri: string): JsonObject | undefined {
  const { extensions } = objectIn(card["capabilities"]);
  const own = (Array.isArray(extensions) ? extensions : [])
    .map(objectIn)
    .find((one) => one["uri"] === uri);
  return own === undefined ? undefined : objectIn(own["params"]);
}

const NOTHING: CardReading = {
  document: {},
  name: "",
  version: "",
  interfaces: [],
  range: {},
  capabilities: new Map(),
  extensions: [],
  grants: undefined,
  delegates: undefined,
  signatures: 0,
  faults: [],
};

interface Extensions {
  readonly uris: readonly string[];
  /** The params of the discovery contract. */
  readonly contract: readonly Holder[];
  /** The params of the capability extension. */
  readonly capability: readonly Holder[];
}

function readExtensions(card: JsonObject, faults: Faults): Extensions {
  const top = ofKind(
    fieldsOf([{ path: "", value: card }], "capabilities"),
    isJsonObject,
    "an object",
    faults,
  );
  const [list] = ofKind(fieldsOf(top, "extensions"), isList, "an array", faults);
  const params: { readonly uri: string; readonly holder: Holder | undefined }[] = [];
  if (list === undefined) return { uris: [], contract: [], capability: [] };
  if (list.value.length > MAX_EXTENSIONS) {
    faults.add("too_many", list.path, `more than ${MAX_EXTENSIONS} extensions`);
  }
  for (const [at, item] of list.value.slice(0, MAX_EXTENSIONS).entries()) {
    const path = pointer(list.path, at);
    const entry = objectIn(item);
    const uri = textIn(entry["uri"]);
    if (uri === undefined || uri === "") {
      faults.add("extension", path, "an extension without a uri");
      continue;
    }
    if (params.some((one) => one.uri === uri)) {
      faults.add("contradiction", path, `the extension ${shown(uri)} is there twice`);
      continue;
    }
    // Params of other extensions are not checked.
    const isRead = uri === DISCOVERY_URI || uri === CAPABILITIES_URI;
    const own = isRead ? fieldsOf([{ path, value: entry }], "params") : [];
    params.push({ uri, holder: ofKind(own, isJsonObject, "an object", faults)[0] });
  }
  const of = (uri: string): readonly Holder[] =>
    params.flatMap((one) => (one.uri === uri && one.holder !== undefined ? [one.holder] : []));
  return {
    uris: params.map(({ uri }) => uri),
    contract: of(DISCOVERY_URI),
    capability: of(CAPABILITIES_URI),
  };
}

/** Maximum number of unregistered capabilities in one card. */
const MOST = 256;

/**
 * Reads the flags in `capabilities`, including A2A's own flags, and the flags in the params of the discovery
 * contract.
 */
function readCapabilities(
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

/** Returns vendors' capabilities and unknown flags, by their names as written. */
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

/** Reports a vendor's capability that has different values in camelCase and snake_case. A URI has only one spelling. */
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
