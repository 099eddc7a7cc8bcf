import { objectIn, textIn } from "../client/received.js";
import type { CardDelegate } from "./card.js";
import { type Faults, pointer, shown } from "./faults.js";
import { fieldsOf, type Holder, isList, ofKind } from "./fields.js";
import { readTexts } from "./read-grants.js";
import { type CapabilityRegistry, registeredName } from "./registry.js";

/** Agents that one agent delegates to. */
const MOST = 64;

/** The agents that a card's agent delegates to; `undefined` if the card does not say. */
export function readDelegates(
  contract: readonly Holder[],
  registry: CapabilityRegistry,
  faults: Faults,
): readonly CardDelegate[] | undefined {
  const [list] = ofKind(fieldsOf(contract, "delegates"), isList, "an array", faults);
  if (list === undefined) return undefined;
  if (list.value.length > MOST) faults.add("too_many", list.path, `more than ${MOST} delegates`);
  return list.value.slice(0, MOST).flatMap((item, at): CardDelegate[] => {
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
