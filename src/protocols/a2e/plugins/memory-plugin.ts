import type { Json, JsonObject } from "../../../bytes/json.js";
import { assertMembers } from "../../../checks/members.js";
import { MemoryError } from "../../../stores/memory/memory-limits.js";
import type { MemoryEntry, MemoryStore } from "../../../stores/memory/memory-store.js";
import { type PluginCall, PluginError, type SessionPlugin } from "../plugin.js";
import { memberOf, optionalText, optionalWhole, textArgument } from "./arguments.js";
import { MEMORY_SDK } from "./memory-sdk.js";
import { ORDER_MEMBERS, objectSchema, orderOf, type PluginOrder } from "./plugin-options.js";

export interface MemoryPluginOptions extends PluginOrder {
  /** The store of the entries, with its own limits, as returned by {@link openMemory} of `proviso/stores`. */
  readonly memory: MemoryStore;
}

const PAGE = 100;
const MAX_PAGE = 1000;
/** Maximum size of a page's entries as JSON, in bytes, so that the page fits into a line. */
const PAGE_BYTES = 128 * 1024;
const TEXT = { type: "string" };

/**
 * Creates a plugin for the capability `memory`: JSON values by key in a database, separate for each principal.
 *
 * - `memory/set {key, value}` answers `{key, bytes, updated, made}`.
 * - `memory/get {key}` answers `{key, found: true, value, bytes, updated}`, or `{key, found: false}`.
 * - `memory/delete {key}` answers `{key, deleted}`.
 * - `memory/list {prefix?, after?, limit?}` answers `{entries: [{key, bytes, updated}], next?}`. A page has at most
 *   `limit` entries (100 unless given, at most 1,000) and at most 128 KiB. To get the next page, pass `next` as
 *   `after`.
 *
 * Peers with A2E's SDK send `memory/init`, `memory/store`, `memory/retrieve` and `memory/forget`. The plugin answers
 * them by calling these operations. In the store, the key of an entry from the SDK is `NAMESPACE/TIER/KEY`, where KEY
 * is the SDK's key as canonical JSON.
 *
 * Codes of refusals: `key_invalid`, `value_too_large` and `quota_exceeded`.
 *
 * @throws TypeError naming the option that is wrong.
 */
export function createMemoryPlugin(options: MemoryPluginOptions): SessionPlugin {
  assertMembers(options, ["memory", ...ORDER_MEMBERS], "options");
  const { memory } = options;
  if (typeof memory !== "object" || memory === null)
    throw new TypeError("options.memory: is missing");
  const key = objectSchema({ key: TEXT }, ["key"]);
  return {
    ...orderOf("memory", options),
    sdk: MEMORY_SDK,
    operations: {
      "memory/get": { input: key, run: (call) => refusing(() => get(memory, call)) },
      "memory/set": {
        input: objectSchema({ key: TEXT, value: {} }, ["key", "value"]),
        run: (call) => refusing(() => set(memory, call)),
      },
      "memory/delete": { input: key, run: (call) => refusing(() => remove(memory, call)) },
      "memory/list": {
        input: objectSchema({
          prefix: TEXT,
          after: TEXT,
          limit: { type: "integer", minimum: 1, maximum: MAX_PAGE },
        }),
        run: (call) => refusing(() => list(memory, call)),
      },
    },
  };
}

async function get(
  memory: MemoryStore,
  { principal, arguments: given }: PluginCall,
): Promise<Json> {
  const key = textArgument(given, "key");
  const entry = await memory.get(principal, key);
  if (entry === undefined) return { key, found: false };
  return { ...written(entry), found: true, value: entry.value };
}

async function set(
  memory: MemoryStore,
  { principal, arguments: given }: PluginCall,
): Promise<Json> {
  const key = textArgument(given, "key");
  const value = memberOf(given, "value");
  if (value === undefined) throw new PluginError("arguments_invalid", "argument value is missing");
  const entry = await memory.set(principal, key, value);
  return { ...written(entry), made: entry.made };
}

async function remove(memory: MemoryStore, call: PluginCall): Promise<Json> {
  const key = textArgument(call.arguments, "key");
  return { key, deleted: await memory.delete(call.principal, key) };
}

async function list(
  memory: MemoryStore,
  { principal, arguments: given }: PluginCall,
): Promise<Json> {
  const { entries, more } = await memory.list(principal, {
    prefix: optionalText(given, "prefix"),
    after: optionalText(given, "after"),
    limit: optionalWhole(given, "limit", [1, MAX_PAGE]) ?? PAGE,
  });
  const page = fitting(entries.map(written));
  const last = entries[page.length - 1];
  const goesOn = more || page.length < entries.length;
  const next: JsonObject = goesOn && last !== undefined ? { next: last.key } : {};
  return { entries: page, ...next };
}

/** Returns the first entries that fit on a page, but at least one. */
function fitting(entries: readonly Json[]): readonly Json[] {
  let bytes = 0;
  const end = entries.findIndex((entry, at) => {
    bytes += Buffer.byteLength(JSON.stringify(entry)) + 1;
    return at > 0 && bytes > PAGE_BYTES;
  });
  return end === -1 ? entries : entries.slice(0, end);
}

function written({ key, bytes, updated }: MemoryEntry): { readonly [name: string]: Json } {
  return { key, bytes, updated: new Date(updated).toISOString() };
}

/**
 * Runs an action, and converts a {@link MemoryError} to a {@link PluginError}, so that the peer gets its code and
 * message. The peer does not see other errors.
 */
async function refusing(action: () => Promise<Json>): Promise<Json> {
  try {
    return await action();
  } catch (error) {
    if (error instanceof MemoryError) throw new PluginError(error.code, error.message);
    throw error;
  }
}
