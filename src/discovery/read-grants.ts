import { isJsonObject, type Json } from "../bytes/json.js";
import { objectIn, textIn } from "../client/received.js";
import type { CardDelegate, CardGrant } from "./card.js";
import { type Faults, pointer, shown } from "./faults.js";
import { fieldsOf, type Holder, isFlag, isList, isSameJson, isText, ofKind } from "./fields.js";
import { type CapabilityRegistry, registeredName } from "./registry.js";

/** Maximum number of grants in one card, and of strings in one array of a grant or delegate. */
const MOST = 512;
const NO_NOTICE = "with reduced guarantees, of which the card says no more";

/**
 * Returns the grants in `capabilityGrants`, which may be in the params of the capability extension or at the
 * top level; `undefined` if a card has no such property.
 */
export function readGrants(
  holders: readonly Holder[],
  faults: Faults,
): readonly CardGrant[] | undefined {
  const lists = ofKind(fieldsOf(holders, "capabilityGrants"), isList, "an array", faults);
  const [list, ...others] = lists;
  if (list === undefined) return undefined;
  for (const { path, value } of others) {
    if (isSameJson(list.value, value)) continue;
    faults.add("contradiction", path, `other grants than at ${list.path}`);
  }
  if (list.value.length > MOST) faults.add("too_many", list.path, `more than ${MOST} grants`);
  const seen = new Set<string>();
  return list.value.slice(0, MOST).flatMap((item, at): CardGrant[] => {
    const path = pointer(list.path, at);
    if (!isJsonObject(item)) {
      faults.add("kind", path, `expected an object, not ${shown(item)}`);
      return [];
    }
    const grant = readGrant({ path, value: item }, faults);
    if (seen.has(grant.id)) {
      faults.add("contradiction", path, `the grant ${shown(grant.id)} is there twice`);
      return [];
    }
    seen.add(grant.id);
    return [grant];
  });
}

function readGrant(holder: Holder, faults: Faults): CardGrant {
  const { path, value } = holder;
  const flag = (name: string): boolean =>
    ofKind(fieldsOf([holder], name), isFlag, "true or false", faults)[0]?.value ?? false;
  const id = textIn(value["id"]);
  if (id === undefined || id === "")
    faults.add("kind", pointer(path, "id"), "expected the grant's id");
  return {
    id: id ?? "",
    description: textIn(value["description"]) ?? "",
    operations: readTexts(holder, "operations", faults),
    attenuable: flag("attenuable"),
    requires: readTexts(holder, "requires", faults),
    ...(flag("legacy") ? { legacy: textIn(value["notice"]) ?? NO_NOTICE } : {}),
    path,
  };
}

/** Returns the strings in an array; any other element is a fault. */
function readTexts(holder: Holder, name: string, faults: Faults): readonly string[] {
  const [list] = ofKind(fieldsOf([holder], name), isList, "an array of strings", faults);
  if (list === undefined) return [];
  if (list.value.length > MOST) faults.add("too_many", list.path, `more than ${MOST} elements`);
  const items = list.value
    .slice(0, MOST)
    .map((value: Json, at) => ({ path: pointer(list.path, at), value }));
  return ofKind(items, isText, "a string", faults).map(({ value }) => value);
}

/** Maximum number of delegates of one agent. */
const MOST_DELEGATES = 64;

/** Returns the delegates of a card's agent; `undefined` if the card does not name them. */
export function readDelegates(
  contract: readonly Holder[],
  registry: CapabilityRegistry,
  faults: Faults,
): readonly CardDelegate[] | undefined {
  const [list] = ofKind(fieldsOf(contract, "delegates"), isList, "an array", faults);
  if (list === undefined) return undefined;
  if (list.value.length > MOST_DELEGATES)
    faults.add("too_many", list.path, `more than ${MOST_DELEGATES} delegates`);
  return list.value.slice(0, MOST_DELEGATES).flatMap((item, at): CardDelegate[] => {
    const path = pointer(list.path, at);
    const value = objectIn(item);
    const url = textIn(value["url"]);
    if (url === undefined || !/^https?:\/\//i.test(url) || !URL.canParse(url)) {
      const message = `expected an absolute http or https URL, not ${shown(url ?? null)}`;
      faults.add("url", pointer(path, "url"), message);
      return [];
    }
    const names = readTexts({ path, value }, "capabilities", faults);
    return [{ url, capabilities: names.map((name) => registeredName(name, registry)), path }];
  });
}
