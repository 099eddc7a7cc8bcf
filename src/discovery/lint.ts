import { isJsonObject, type Json, type JsonObject, outlineJson } from "../bytes/json.js";
import { assertString } from "../checks/kinds.js";
import { assertMembers } from "../checks/members.js";
import { type Suggest, suggestions } from "../checks/nearest.js";
import { objectIn, textIn } from "../client/received.js";
import { DISCOVERY_URI } from "./card.js";
import { cardRemarks } from "./card-remarks.js";
import { asCardVersion, type CardVersion, versionOfCard } from "./card-version.js";
import { bounded, pointer, shownPath } from "./faults.js";
import { listIn } from "./fields.js";
import {
  type CardFinding,
  createLocator,
  type FindingSeverity,
  parseText,
  type Remark,
  repeatedNames,
} from "./finding.js";
import { MAX_CARD_DEPTH, readCard } from "./read-card.js";
import {
  cardSchemaRemarks,
  NO_REMARKS,
  paramsRemarks,
  type SchemaRemarks,
} from "./schema-remarks.js";

/** Maximum length of a card, in characters. */
const MAX_CARD_LENGTH = 1024 * 1024;
/** Maximum number of findings for one card. */
const MOST = 200;
/**
 * Maximum work for all suggestions for one card: the sum of the products of compared lengths. This much work
 * takes some milliseconds.
 */
const SUGGESTION_WORK = 2 ** 20;

/** Options of {@link lintCard}. */
interface LintOptions {
  /**
   * The A2A version to check against: 0.1, 0.2, 0.3, or one of 1.x. Unless given, the version is detected from
   * the card.
   */
  readonly protocolVersion?: string;
}

/**
 * Checks the text of a card: its JSON syntax, repeated properties, the schema of its A2A version, the schema of
 * the discovery contract, and contradictions. Needs the packages `ajv` and `jsonc-parser`. Time and memory are
 * limited.
 *
 * @returns The findings in the order of the text; empty if there are none. If there are more than 200, returns
 *   the 200 most severe findings, and a last finding with the number of omitted findings.
 * @throws TypeError if the text is not a string, or an option is invalid.
 */
export async function lintCard(
  text: string,
  options: LintOptions = {},
): Promise<readonly CardFinding[]> {
  assertString(text, "text");
  assertMembers(options, ["protocolVersion"], "options");
  const { protocolVersion } = options;
  const wanted =
    protocolVersion === undefined
      ? undefined
      : asCardVersion(protocolVersion, "options.protocolVersion");
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
    const message = notJson(text);
    const remark: Remark = { severity: "error", code: "not_json", path: "", message };
    return [createLocator(text, undefined).at(parsed.offset, remark)];
  }
  const { value, root } = parsed;
  const locator = createLocator(text, root);
  const twins = repeatedNames(root).map(({ path, offset }) => {
    const message = `${shownPath(path)}: the name is there twice`;
    return locator.at(offset, { severity: "error", code: "name_repeated", path, message });
  });
  const { remarks, left, leftErrors } = await remarksOn(value, wanted);
  const all = [...twins, ...remarks.map(locator.locate)].toSorted(
    (a, b) => SEVERITIES.indexOf(a.severity) - SEVERITIES.indexOf(b.severity),
  );
  const [shown, cut] = [all.slice(0, MOST), all.slice(MOST)];
  const more = cut.length + left;
  const message = more === 1 ? "there is 1 more finding" : `there are ${more} more findings`;
  const last = { code: "more", path: "", message } as const;
  const severity = leftErrors > 0 ? "error" : (cut[0]?.severity ?? "remark");
  return [
    ...shown.toSorted((a, b) => a.line - b.line || a.column - b.column),
    ...(more === 0 ? [] : [locator.at(text.length, { severity, ...last })]),
  ].map((one) => ({ ...one, path: bounded(one.path) }));
}

function notJson(text: string): string {
  if (text.trim() === "") return "this is empty";
  return text.startsWith("\ufeff")
    ? "this is not JSON: it begins with a byte order mark"
    : "this is not JSON";
}

const SEVERITIES: readonly FindingSeverity[] = ["error", "warning", "remark"];

/** Returns remarks on a card, and the number of omitted remarks. */
async function remarksOn(
  value: Json,
  wanted: CardVersion | undefined,
): Promise<Omit<SchemaRemarks, "paths">> {
  const card = readCard(value);
  const document = objectIn(value);
  const version = wanted ?? versionOfCard(document);
  const near = suggestions(SUGGESTION_WORK);
  const schema = await cardSchemaRemarks(value, version, near);
  const params = await contractRemarks(document, near);
  const known = new Set([...schema.paths, ...params.paths]);
  const remarks = [
    ...olderRemarks(document, version),
    ...schema.remarks,
    ...params.remarks,
    ...(isJsonObject(value) ? cardRemarks(card, version, near) : []).filter(
      ({ code, path }) => code !== "contract" || !known.has(path),
    ),
  ];
  return {
    remarks: distinct(remarks),
    left: schema.left + params.left,
    leftErrors: schema.leftErrors + params.leftErrors,
  };
}

function olderRemarks(card: JsonObject, version: CardVersion): readonly Remark[] {
  const own = versionOfCard(card);
  if (own === "1.0") return [];
  const names = textIn(card["protocolVersion"]) !== undefined;
  const whose = names ? `a card of A2A ${own}` : `a card without a version, as in A2A ${own}`;
  const rest =
    own === version
      ? "callers of A2A 1.0 cannot use it"
      : `what follows is what A2A ${version} asks of it`;
  const path = names ? "/protocolVersion" : "";
  const message = `${shownPath(path)}: this is ${whose}; ${rest}`;
  return [{ severity: "remark", code: "version_older", path, message }];
}

function contractRemarks(card: JsonObject, near: Suggest): Promise<SchemaRemarks> {
  const extensions = listIn(objectIn(card["capabilities"])["extensions"]);
  const own = extensions.findIndex(({ uri }) => uri === DISCOVERY_URI);
  const params = extensions[own]?.["params"];
  if (params === undefined) return Promise.resolve(NO_REMARKS);
  const base = pointer("/capabilities/extensions", own, "params");
  return paramsRemarks(params, base, near);
}

/** Keeps only the first of several remarks with the same message. */
function distinct(remarks: readonly Remark[]): readonly Remark[] {
  const byMessage = new Map(remarks.toReversed().map((one) => [one.message, one]));
  return remarks.filter((one) => byMessage.get(one.message) === one);
}
