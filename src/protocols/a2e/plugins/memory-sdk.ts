// Converts the memory messages of A2E's SDK to calls of memory/get, memory/set, memory/delete and memory/list. In the
// store, an entry's key is NAMESPACE/TIER/KEY, where KEY is the SDK's key as canonical JSON, for example
// default/episodic/{"name":"tea"}.

import {
  canonicalJson,
  isJsonObject,
  isTexts,
  type Json,
  type JsonObject,
} from "../../../bytes/json.js";
import { isPluginError, PluginError, type SdkMessage, type SessionPlugin } from "../plugin.js";
import { memberOf, optionalText, optionalWhole, textArgument } from "./arguments.js";

/** Maximum number of entries in one message. Each entry is a separate call, which is judged and recorded. */
const MOST = 100;
const USUAL_LIMIT = 10;
const TIERS = ["episodic", "semantic"];
const NAMESPACE = /^[A-Za-z0-9_.-]{1,64}$/;
/** Matches a `memory_id`: a namespace, followed by the canonical JSON of the scope unless the scope is empty. */
const MEMORY = /^([A-Za-z0-9_.-]{1,64})(\{.+\})?$/s;
const ENTRY = [
  "key",
  "content",
  "tier",
  "tags",
  "source",
  "score",
  "ttl",
  "created_at",
  "updated_at",
];

/** Handlers for the SDK's messages about memories. */
export const MEMORY_SDK: NonNullable<SessionPlugin["sdk"]> = {
  "memory/init": async ({ members }) => init(members),
  "memory/store": store,
  "memory/retrieve": retrieve,
  "memory/forget": forget,
};

function init(members: JsonObject): JsonObject {
  const namespace = optionalText(members, "namespace") ?? "default";
  const { scope = {}, metadata } = members;
  if (!NAMESPACE.test(namespace)) {
    throw invalid('namespace must be 1 to 64 letters, digits, "_", "." or "-"');
  }
  if (!isScope(scope)) throw invalid("scope must be an object of strings");
  if (metadata !== undefined) throw invalid("this memory takes no metadata");
  const own = Object.keys(scope).length === 0 ? "" : canonicalJson(scope);
  return { memory_id: `${namespace}${own}`, namespace, success: true };
}

async function store({ members, call }: SdkMessage): Promise<JsonObject> {
  const memory = memoryOf(members);
  const entries = listOf(members, "entries");
  const stored: Json[] = [];
  const failures: { readonly text: string; readonly error: PluginError }[] = [];
  for (const [at, entry] of entries.entries()) {
    try {
      const { key, tier, value } = entryFrom(entry);
      await call("memory/set", { arguments: { key: keyOf(memory, tier, key), value } });
      stored.push(key);
    } catch (error) {
      if (!isPluginError(error)) throw error;
      failures.push({ text: `entries[${at}]: ${error.code}: ${error.message}`, error });
    }
  }
  const [first] = failures;
  // If nothing was stored, throw the first error: the SDK's client does not show the errors in an answer.
  if (first !== undefined && stored.length === 0) throw first.error;
  return { stored, errors: failures.map(({ text }) => text) };
}

async function retrieve(message: SdkMessage): Promise<JsonObject> {
  const { members } = message;
  const least = memberOf(members, "min_score") ?? 0;
  const limit = optionalWhole(members, "limit", [1, MOST]) ?? USUAL_LIMIT;
  if (typeof least !== "number") throw invalid("min_score must be a number");
  if (members["query"] !== undefined) {
    throw invalid("this memory has no search: leave query out, and name keys, tags or a tier");
  }
  const entries: JsonObject[] = [];
  for await (const { entry } of entriesOf(message, "")) {
    if (Number(entry["score"]) >= least) entries.push(entry);
    if (entries.length === limit) break;
  }
  return { entries, total: entries.length };
}

async function forget(message: SdkMessage): Promise<JsonObject> {
  const { members, call } = message;
  if (members["keys"] === undefined && members["tags"] === undefined) {
    throw invalid("name keys or tags: a whole tier is not forgotten at once");
  }
  let deleted = 0;
  const remove = async (key: string): Promise<void> => {
    const answer = await call("memory/delete", { arguments: { key } });
    if (isJsonObject(answer) && answer["deleted"] === true) deleted++;
  };
  if (members["tags"] === undefined) {
    for (const { prefix } of tiersOf(message, "episodic")) {
      for await (const key of keysOf(message, prefix)) await remove(key);
    }
  } else {
    for await (const { key } of entriesOf(message, "episodic")) await remove(key);
  }
  return { deleted };
}

/** A requested entry, and its key in the store. */
interface Found {
  readonly key: string;
  readonly entry: JsonObject;
}

/**
 * Yields the entries in the tiers of a message. If the message has `keys`, only entries with one of these keys are
 * yielded; if it has `tags`, only entries with one of these tags.
 *
 * @param usual - The tier to search if the message names none; an empty string for all tiers.
 * @throws PluginError `too_many_entries` if more than 100 entries would have to be read.
 */
async function* entriesOf(message: SdkMessage, usual: string): AsyncGenerator<Found, void, void> {
  const { members, call } = message;
  const tags = textsOf(members, "tags");
  let looked = 0;
  for (const { tier, prefix } of tiersOf(message, usual)) {
    for await (const key of keysOf(message, prefix)) {
      if (looked++ === MOST) {
        const text = `more than ${MOST} entries would have to be looked at; name their keys`;
        throw new PluginError("too_many_entries", text);
      }
      const answer = await call("memory/get", { arguments: { key } });
      const entry = entryOf(answer, tier, key.slice(prefix.length));
      if (entry === undefined) continue;
      const theirs = isTexts(entry["tags"]) ? entry["tags"] : [];
      if (tags.length === 0 || tags.some((tag) => theirs.includes(tag))) yield { key, entry };
    }
  }
}

/**
 * Returns the tiers that a message concerns, each with the beginning of its keys in the store.
 *
 * @param usual - The same as for {@link entriesOf}.
 */
function tiersOf(
  { members }: SdkMessage,
  usual: string,
): readonly { readonly tier: string; readonly prefix: string }[] {
  const memory = memoryOf(members);
  const asked = optionalText(members, "tier") ?? usual;
  // The tier "working" is valid, but its entries are not stored.
  if (![...TIERS, "working", ""].includes(asked)) throw invalid(`there is no tier "${asked}"`);
  const tiers = TIERS.filter((tier) => asked === "" || tier === asked);
  return tiers.map((tier) => ({ tier, prefix: `${memory}/${tier}/` }));
}

/** Yields keys in the store: those that the message names, or all keys with the prefix if the message names none. */
async function* keysOf(
  { members, call }: SdkMessage,
  prefix: string,
): AsyncGenerator<string, void, void> {
  if (members["keys"] !== undefined) {
    for (const key of listOf(members, "keys")) {
      if (!isJsonObject(key)) throw invalid("each of keys must be an object");
      yield `${prefix}${canonicalJson(key)}`;
    }
    return;
  }
  let after: string | undefined;
  do {
    const more: JsonObject = after === undefined ? {} : { after };
    const page = await call("memory/list", { arguments: { prefix, ...more } });
    const { entries, next } = isJsonObject(page) ? page : {};
    for (const one of Array.isArray(entries) ? entries : []) {
      if (isJsonObject(one) && typeof one["key"] === "string") yield one["key"];
    }
    after = typeof next === "string" ? next : undefined;
  } while (after !== undefined);
}

/**
 * Reads an entry of `memory/store`. The key and the tier become the key in the store; the other properties become the
 * value.
 */
function entryFrom(entry: Json): {
  readonly key: JsonObject;
  readonly tier: string;
  readonly value: JsonObject;
} {
  if (!isJsonObject(entry)) throw invalid("an entry must be an object");
  const unknown = Object.keys(entry).find((name) => !ENTRY.includes(name));
  if (unknown !== undefined) throw invalid(`an entry has no "${unknown}"`);
  const { key, tier, ttl = 0, ...value } = entry;
  if (key === undefined || !isJsonObject(key)) throw invalid("key must be an object");
  if (tier === "working") {
    throw invalid('the tier "working" is not kept here: use "episodic" or "semantic"');
  }
  if (typeof tier !== "string" || !TIERS.includes(tier)) {
    throw invalid('tier must be "episodic" or "semantic"');
  }
  if (ttl !== 0) throw invalid("entries do not expire here: ttl must be 0");
  const wrong = faultOf(value);
  if (wrong !== undefined) throw invalid(wrong);
  return { key, tier, value };
}

/**
 * Checks whether the SDK's client could read a value, and describes the first problem, if there is one. The client
 * would drop the whole answer.
 */
function faultOf(value: JsonObject): string | undefined {
  const { content, tags, source } = value;
  if (content === undefined) return "content is missing";
  if (tags !== undefined && !isTexts(tags)) return "tags must be an array of strings";
  if (source !== undefined && typeof source !== "string") return "source must be a string";
  const wrong = ["score", "created_at", "updated_at"].find((name) => {
    return value[name] !== undefined && typeof value[name] !== "number";
  });
  return wrong === undefined ? undefined : `${wrong} must be a number`;
}

/**
 * Converts the answer of `memory/get` to an entry for the SDK's client. Returns `undefined` if the entry does not
 * exist, or if its key is not the JSON of an object.
 */
function entryOf(answer: Json, tier: string, text: string): JsonObject | undefined {
  if (!isJsonObject(answer) || answer["found"] !== true) return undefined;
  const { value = null, updated } = answer;
  let key: Json;
  try {
    key = JSON.parse(text);
  } catch {
    return undefined;
  }
  if (!isJsonObject(key)) return undefined;
  const isEntry = isJsonObject(value) && faultOf(value) === undefined;
  const kept = isEntry ? value : { content: value };
  const changed = typeof updated === "string" ? Date.parse(updated) / 1000 : 0;
  return {
    tags: [],
    source: "",
    score: 1,
    created_at: changed,
    updated_at: changed,
    ...kept,
    key,
    tier,
    ttl: 0,
  };
}

function keyOf(memory: string, tier: string, key: JsonObject): string {
  return `${memory}/${tier}/${canonicalJson(key)}`;
}

/** Returns the `memory_id` of a message after checking it. The keys of this memory in the store begin with the id. */
function memoryOf(members: JsonObject): string {
  const id = textArgument(members, "memory_id");
  const [, , scope] = MEMORY.exec(id) ?? [];
  if (MEMORY.test(id) && (scope === undefined || isScopeText(scope))) return id;
  throw invalid("memory_id is that of no memory; memory/init gives one");
}

function isScopeText(text: string): boolean {
  try {
    const scope: Json = JSON.parse(text);
    return isScope(scope) && canonicalJson(scope) === text;
  } catch {
    return false;
  }
}

function isScope(scope: Json): scope is JsonObject {
  return isJsonObject(scope) && Object.values(scope).every((text) => typeof text === "string");
}

function listOf(members: JsonObject, name: string): readonly Json[] {
  const list = memberOf(members, name) ?? [];
  if (!Array.isArray(list) || list.length > MOST) {
    throw invalid(`${name} must be an array of at most ${MOST}`);
  }
  return list;
}

function textsOf(members: JsonObject, name: string): readonly string[] {
  const list = memberOf(members, name) ?? [];
  if (isTexts(list)) return list;
  throw invalid(`${name} must be an array of strings`);
}

function invalid(message: string): PluginError {
  return new PluginError("arguments_invalid", message);
}
