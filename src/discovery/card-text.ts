import {
  duplicateKey,
  isJsonObject,
  type Json,
  type JsonObject,
  outlineJson,
  quotedName,
} from "../bytes/json.js";
import { ClientError } from "../client/client-error.js";
import { MAX_CARD_DEPTH } from "./read-card.js";

/** Maximum size of a card, in bytes. The size is checked before the card is parsed. */
export const MAX_CARD_BYTES: number = 1024 * 1024;

/**
 * Parses a card. Refuses deep nesting and duplicate properties.
 *
 * @param origin - The source of the card, for messages: an origin or a file name.
 * @throws ClientError `answer_malformed` or `not_json`
 */
export function parseCard(text: string, origin: string): JsonObject {
  const unreadableCard = (problem: string): ClientError =>
    new ClientError("answer_malformed", `the card of ${origin} ${problem}`, origin);
  if (outlineJson(text).depth > MAX_CARD_DEPTH) {
    throw unreadableCard(`is nested more than ${MAX_CARD_DEPTH} deep`);
  }
  let document: Json;
  try {
    document = JSON.parse(text);
  } catch {
    throw new ClientError("not_json", `the card of ${origin} is not JSON`, origin);
  }
  if (!isJsonObject(document)) throw unreadableCard("is not an object");
  const twice = duplicateKey(text);
  if (twice !== undefined) throw unreadableCard(`has the property ${quotedName(twice.key)} twice`);
  return document;
}
