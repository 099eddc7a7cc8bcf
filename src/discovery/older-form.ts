import { isJsonObject, type JsonObject } from "../bytes/json.js";
import { textIn } from "../client/received.js";
import { type Faults, pointer } from "./faults.js";
import { type Field, fieldsOf, type Holder, isList, listAt } from "./fields.js";
import type { VersionRange } from "./versions.js";

// Cards of A2A before 1.0: one interface at the top, others in `additionalInterfaces`, one version for all.

/** Tests for the form of A2A before 1.0: a card that lists nothing in `supportedInterfaces`. */
export function hasOlderForm(card: JsonObject): boolean {
  const lists = fieldsOf([{ path: "", value: card }], "supportedInterfaces");
  return lists.every(({ value }) => isList(value) && value.length === 0);
}

/** An interface of a card, whichever form it is written in. */
export interface WrittenInterface {
  readonly holder: Holder;
  /** The member of the holder that has the binding. */
  readonly binding: "protocolBinding" | "preferredTransport" | "transport";
  /** The object with its version. */
  readonly version: Holder;
}

/** The interfaces of a card in the older form. */
export function olderInterfaces(top: Holder, faults: Faults): readonly WrittenInterface[] {
  const more = listAt(top, "additionalInterfaces", faults);
  const { url } = top.value;
  const first = textIn(fieldsOf([top], "preferredTransport")[0]?.value) || "JSONRPC";
  const hasFirst = url !== undefined && url !== null && url !== "";
  const others = (more?.value ?? []).flatMap((item, at): WrittenInterface[] => {
    if (!isJsonObject(item)) return [];
    // The one at the top is usually listed again.
    if (hasFirst && item["url"] === url && item["transport"] === first) return [];
    const holder = { path: pointer(more?.path ?? "", at), value: item };
    return [{ holder, binding: "transport", version: top }];
  });
  return hasFirst
    ? [{ holder: top, binding: "preferredTransport", version: top }, ...others]
    : others;
}

/** The versions whose cards did not say which they are: the member came with 0.2.5. */
export const UNNAMED: readonly VersionRange[] = [
  { min: { major: 0, minor: 1 }, max: { major: 0, minor: 2 } },
];

/** A flag at the top of older cards that stands under `capabilities` since A2A 1.0. */
export function olderFlag(name: string, card: JsonObject): readonly Field[] {
  if (name !== "extended_agent_card" || !hasOlderForm(card)) return [];
  return fieldsOf([{ path: "", value: card }], "supportsAuthenticatedExtendedCard");
}
