import type { Json, JsonObject } from "../bytes/json.js";
import { objectIn, textIn } from "../client/received.js";
import type { CardInterface } from "./card.js";
import { hasOlderForm, olderInterfaces, UNNAMED, type WrittenInterface } from "./card-version.js";
import { type Faults, pointer, shown } from "./faults.js";
import {
  agreed,
  type Field,
  fieldsOf,
  type Holder,
  isList,
  isText,
  listAt,
  ofKind,
} from "./fields.js";
import { readVersions } from "./read-range.js";
import { BINDINGS } from "./requirements.js";
import {
  compareVersions,
  isInRange,
  isTurnedRound,
  type ProtocolVersion,
  rangeText,
  type VersionRange,
  versionText,
  withinMajor,
} from "./versions.js";

/** Maximum number of interfaces in one card. */
const MOST = 64;
/** Maximum number of versions of one interface. */
const MOST_VERSIONS = 64;

/**
 * Returns a card's interfaces: those in `supportedInterfaces`, or, for A2A before 1.0, those in other top-level
 * properties.
 *
 * @param contract - The params of the discovery contract, which may list versions of an interface by its URL.
 */
export function readInterfaces(
  card: JsonObject,
  contract: readonly Holder[],
  range: VersionRange,
  faults: Faults,
): readonly CardInterface[] {
  const top: Holder = { path: "", value: card };
  const isOlder = hasOlderForm(card);
  const written = isOlder ? olderInterfaces(top, faults) : listedInterfaces(top, faults);
  if (written.length > MOST) faults.add("too_many", "", `more than ${MOST} interfaces`);
  const claims = readClaims(contract, faults);
  const context = { claims, range, isOlder, sets: versionSets(faults) };
  const read = written.slice(0, MOST).map((one) => readInterface(one, context, faults));
  foreignClaims(claims, read, faults);
  return read;
}

function listedInterfaces(top: Holder, faults: Faults): readonly WrittenInterface[] {
  const list = listAt(top, "supportedInterfaces", faults);
  return (list?.value ?? []).map((item, at) => {
    const holder = { path: pointer(list?.path ?? "", at), value: objectIn(item) };
    return { holder, binding: "protocolBinding", version: holder };
  });
}

function foreignClaims(
  claims: readonly Claim[],
  read: readonly CardInterface[],
  faults: Faults,
): void {
  for (const { url, binding, path } of claims) {
    if (read.some((one) => one.url === url && (binding === undefined || one.binding === binding)))
      continue;
    faults.add("contradiction", path, `names ${shown(url)}, which is no interface of the card`);
  }
}

/** Versions that the contract's params claim for an interface. */
interface Claim {
  readonly url: string;
  readonly binding: string | undefined;
  readonly path: string;
  readonly holder: Holder;
}

function readClaims(contract: readonly Holder[], faults: Faults): readonly Claim[] {
  const lists = ofKind(fieldsOf(contract, "interfaces"), isList, "an array", faults);
  return lists.flatMap(({ path, value }) => {
    if (value.length > MOST) faults.add("too_many", path, `more than ${MOST} interfaces`);
    return value.slice(0, MOST).flatMap((item, at): Claim[] => {
      const holder = { path: pointer(path, at), value: objectIn(item) };
      const url = textIn(holder.value["url"]);
      const binding = textAt(holder, "protocolBinding", faults) || undefined;
      if (url !== undefined) return [{ url, binding, path: holder.path, holder }];
      faults.add("kind", pointer(holder.path, "url"), "expected the URL of an interface");
      return [];
    });
  });
}

function readInterface(
  { holder, binding: member, version }: WrittenInterface,
  { claims, ...about }: { readonly claims: readonly Claim[] } & VersionsContext,
  faults: Faults,
): CardInterface {
  const { path } = holder;
  const url = textAt(holder, "url", faults);
  const named = textAt(holder, member, faults) ?? "";
  const binding = named === "" && member === "preferredTransport" ? "JSONRPC" : named;
  assertUsable(url, binding, pointer(path, "url"), faults);
  const own = claims.filter(
    (claim) => claim.url === url && (claim.binding === undefined || claim.binding === binding),
  );
  const tenant = about.isOlder ? undefined : textAt(holder, "tenant", faults);
  return {
    url: url ?? "",
    binding,
    ...(tenant === undefined || tenant === "" ? {} : { tenant }),
    ...versionsOf(
      version,
      own.map((claim) => claim.holder),
      about,
      faults,
    ),
    path,
  };
}

/** The versions in an array `protocolVersions`. */
interface VersionSet {
  readonly path: string;
  readonly value: readonly Field<ProtocolVersion>[];
  /** The same versions as strings. */
  readonly texts: ReadonlySet<string>;
}

interface VersionsContext {
  readonly range: VersionRange;
  /** True if the card has the form of A2A before 1.0. */
  readonly isOlder: boolean;
  readonly sets: (place: Field<readonly Json[]>) => VersionSet;
}

/**
 * Returns a function that parses an array of versions. It parses each array once, since one claim may be about
 * many interfaces.
 */
function versionSets(faults: Faults): (place: Field<readonly Json[]>) => VersionSet {
  const known = new Map<string, VersionSet>();
  return ({ path, value }) => {
    const found = known.get(path) ?? readSet(path, value, faults);
    known.set(path, found);
    return found;
  };
}

function readSet(path: string, list: readonly Json[], faults: Faults): VersionSet {
  if (list.length > MOST_VERSIONS) {
    faults.add("too_many", path, `more than ${MOST_VERSIONS} versions`);
  }
  const items = list
    .slice(0, MOST_VERSIONS)
    .map((item, at) => ({ path: pointer(path, at), value: item }));
  const value = readVersions(items, faults);
  return { path, value, texts: new Set(value.map((one) => versionText(one.value))) };
}

function versionsOf(
  holder: Holder,
  claims: readonly Holder[],
  { range, isOlder, sets: readAll }: VersionsContext,
  faults: Faults,
): Pick<CardInterface, "versions" | "speaks" | "versionText"> {
  const single = fieldsOf([holder], "protocolVersion");
  const ones = readVersions(single, faults);
  const sets = ofKind(fieldsOf([holder, ...claims], "protocolVersions"), isList, "an array", faults)
    .filter(({ value }) => value.length > 0)
    .map(readAll);
  const [one, ...twins] = ones;
  const [set, ...others] = sets;
  for (const twin of twins)
    if (one !== undefined && compareVersions(one.value, twin.value) !== 0)
      contradict(twin, one, faults);
  for (const other of others) {
    const same =
      other.value.length === set?.value.length &&
      [...other.texts].every((text) => set.texts.has(text));
    if (!same) faults.add("contradiction", other.path, `other versions than at ${set?.path}`);
  }
  if (one !== undefined && set !== undefined && !set.texts.has(versionText(one.value))) {
    const message = `does not hold ${versionText(one.value)}, which ${one.path} says`;
    faults.add("contradiction", set.path, message);
  }
  const all = set === undefined ? (one === undefined ? [] : [one]) : set.value;
  if (!isTurnedRound(range)) {
    for (const { path, value } of all) {
      if (isInRange(value, range)) continue;
      const message = `${versionText(value)} is outside what the card as a whole claims: ${rangeText(range)}`;
      faults.add("contradiction", path, message);
    }
  }
  const versions = all.map(({ value }) => value);
  return {
    versions,
    speaks: spoken(versions, { isWhole: set !== undefined, isOlder, range }),
    versionText: textIn(single[0]?.value) ?? firstText(all),
  };
}

/** Returns the versions that an interface speaks (docs/spec.md, section 14.4). */
function spoken(
  versions: readonly ProtocolVersion[],
  {
    isWhole,
    isOlder,
    range,
  }: {
    /** True if the interface lists all its versions. */
    readonly isWhole: boolean;
    readonly isOlder: boolean;
    readonly range: VersionRange;
  },
): readonly VersionRange[] {
  const isOpen = range.min === undefined && range.max === undefined;
  const hasRange = !isOpen && !isTurnedRound(range);
  const [one] = versions;
  if (one === undefined) return hasRange ? [range] : isOlder ? UNNAMED : [];
  if (!isWhole && hasRange) return [withinMajor(range, one)];
  return versions.map((version) => ({ min: version, max: version }));
}

/**
 * Returns a string property, in camelCase or snake_case. Returns an empty string only if neither spelling has
 * another value.
 */
function textAt(holder: Holder, name: string, faults: Faults): string | undefined {
  const all = ofKind(fieldsOf([holder], name), isText, "a string", faults);
  const written = all.filter(({ value }) => value !== "");
  return (agreed(written, (a, b) => a === b, faults, shown) ?? all[0])?.value;
}

/**
 * Returns whether an interface's URL can be used with its binding. A gRPC address is often a host and port
 * without a scheme. A custom binding defines its own addresses; A2A's example has a WebSocket URL. The case of
 * the binding's name is ignored, as in the SDKs.
 */
function isUsable(url: string, binding: string): boolean {
  const known = BINDINGS.find((one) => one === binding.toUpperCase());
  if (known === undefined && binding !== "") return url !== "";
  if (known === "GRPC") return url !== "" && !url.includes("@");
  if (!/^https?:\/\//i.test(url) || !URL.canParse(url)) return false;
  const { username, password } = new URL(url);
  return username === "" && password === "";
}

function assertUsable(
  url: string | undefined,
  binding: string,
  path: string,
  faults: Faults,
): void {
  if (url !== undefined && isUsable(url, binding)) return;
  const message = `expected an absolute http or https URL without a user's name, not ${shown(url ?? null)}`;
  faults.add("url", path, message);
}

function contradict(b: Field<ProtocolVersion>, a: Field<ProtocolVersion>, faults: Faults): void {
  const message = `says ${versionText(b.value)}, and ${a.path} says ${versionText(a.value)}`;
  faults.add("contradiction", b.path, message);
}

function firstText([first]: readonly Field<ProtocolVersion>[]): string {
  return first === undefined ? "" : versionText(first.value);
}
