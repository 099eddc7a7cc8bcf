import { outlineJson } from "../bytes/json.js";
import { type Suggest, suggestions } from "../checks/nearest.js";
import { objectIn } from "../client/received.js";
import { cardRemarks } from "./card-remarks.js";
import { bounded, pointer, shownPath } from "./faults.js";
import {
  type CardFinding,
  createLocator,
  parseText,
  type Remark,
  repeatedNames,
} from "./finding.js";
import { listIn } from "./places.js";
import { MAX_CARD_DEPTH, readCard } from "./read-card.js";
import { schemaRemarks } from "./schema-remarks.js";
import { DISCOVERY_URI } from "./uris.js";

/** Characters of a card. */
const MAX_CARD_LENGTH = 1024 * 1024;
/** Findings of one card; when those are mended, it may be checked again. */
const MOST = 200;
/** Of all suggestions for one card, in products of lengths: some milliseconds. */
const SUGGESTION_WORK = 2 ** 20;

/**
 * Checks a card's text: JSON without a name twice, A2A 1.0's schema, the contract's schema, no contradiction.
 * Needs `ajv` and `jsonc-parser`. Time and memory are bounded.
 *
 * @returns In the order of the text, 200 at most; empty for a card with nothing wrong.
 */
export async function lintCard(text: string): Promise<readonly CardFinding[]> {
  const plain = createLocator("", undefined);
  if (text.length > MAX_CARD_LENGTH) {
    const message = `the card has more than ${MAX_CARD_LENGTH} characters`;
    return [plain.at(0, { severity: "error", code: "too_large", path: "", message })];
  }
  if (outlineJson(text).depth > MAX_CARD_DEPTH) {
    const message = `the card is nested more than ${MAX_CARD_DEPTH} deep`;
    return [plain.at(0, { severity: "error", code: "too_deep", path: "", message })];
  }
  const parsed = await parseText(text);
  if (!parsed.ok) {
    const message = "this is not JSON";
    const remark: Remark = { severity: "error", code: "not_json", path: "", message };
    return [createLocator(text, undefined).at(parsed.offset, remark)];
  }
  const { value, root } = parsed;
  const locator = createLocator(text, root);
  const twins = repeatedNames(root)
    .slice(0, MOST)
    .map(({ path, offset }) => {
      const message = `${shownPath(path)}: the name is there twice`;
      return locator.at(offset, { severity: "error", code: "name_repeated", path, message });
    });
  const card = readCard(value);
  const near = suggestions(SUGGESTION_WORK);
  const remarks = [
    ...(await schemaRemarks("card", value, near)),
    ...(await paramsRemarks(value, near)),
    ...cardRemarks(card, near),
  ];
  const located = unsaid(remarks).slice(0, MOST).map(locator.locate);
  return [...twins, ...located]
    .toSorted((a, b) => a.line - b.line || a.column - b.column)
    .slice(0, MOST)
    .map((one) => ({ ...one, path: bounded(one.path) }));
}

async function paramsRemarks(card: unknown, near: Suggest): Promise<readonly Remark[]> {
  const extensions = listIn(objectIn(objectIn(card)["capabilities"])["extensions"]);
  const own = extensions.findIndex(({ uri }) => uri === DISCOVERY_URI);
  const params = extensions[own]?.["params"];
  if (params === undefined) return [];
  const base = pointer("/capabilities/extensions", own, "params");
  return schemaRemarks("params", params, near, base);
}

/** What the schema says already is not said again, nor anything twice. */
function unsaid(remarks: readonly Remark[]): readonly Remark[] {
  const bySchema = new Set(remarks.flatMap(({ code, path }) => (code === "schema" ? [path] : [])));
  const seen = new Set<string>();
  return remarks.filter(({ code, path, message }) => {
    if (seen.has(message) || (code === "contract" && bySchema.has(path))) return false;
    seen.add(message);
    return true;
  });
}
