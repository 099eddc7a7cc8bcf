import type { PresentedCapability } from "../../../src/agent/presented.js";
import type { Json, JsonObject } from "../../../src/bytes/json.js";
import { withCapability } from "../../../src/protocols/a2a/client/interceptor.js";
import { CAPABILITY_HEADER, EXTENSION_URI, METHODS } from "../../../src/protocols/a2a/extension.js";
import { type Connection, dataPart, messageOf } from "../world/connection.js";

/** A call of a skill, with the capabilities to present. */
interface SkillAttempt {
  readonly skill: string;
  readonly given: JsonObject;
  readonly presented: readonly PresentedCapability[];
}

/** A way to send a call. */
export type Channel = (connection: Connection, attempt: SkillAttempt) => Promise<unknown>;

/** Sends the call by the SDK's client and the interceptor, over one binding. */
function bySdk(transport: "JSONRPC" | "HTTP+JSON", streaming: boolean): Channel {
  return async (connection, { skill, given, presented }) => {
    const plain = await connection.client(transport);
    const tokens = presented.flatMap(({ token }) => token ?? []);
    const byToken = tokens.length > 0 && presented.every(({ id }) => id === undefined);
    const client = byToken ? await withCapability(plain, tokens) : plain;
    const metadata = byToken ? {} : metadataWith(presented);
    const message = messageOf([dataPart({ skill, arguments: given })], { metadata });
    if (!streaming) return client.sendMessage(message);
    const events: unknown[] = [];
    for await (const event of client.sendMessageStream(message)) events.push(event);
    return events;
  };
}

/** All ways to call a skill. They are used in turn, so that every kind of call is sent in every way. */
export const CHANNELS: readonly Channel[] = [
  bySdk("JSONRPC", false),
  (connection, { skill, given, presented }) => {
    const params = { skill, arguments: given, ...listOf(presented) };
    return connection.method(METHODS.invoke, params);
  },
  bySdk("HTTP+JSON", false),
  (connection, { skill, given, presented }) => {
    const message = { role: "user", parts: [{ kind: "data", data: { skill, arguments: given } }] };
    return connection.method(METHODS.send, { message, ...listOf(presented) });
  },
  // Sends the call as a client that does not know the extension.
  (connection, { skill, given, presented }) => {
    const message = { messageId: crypto.randomUUID(), role: "ROLE_USER", parts: [] as Json[] };
    message.parts.push({ data: { skill, arguments: given } });
    const metadata = metadataWith(presented);
    return connection.method("SendMessage", { message, metadata }, { "A2A-Extensions": "" });
  },
  bySdk("JSONRPC", true),
  // Sends the tokens in the header that is meant for requests without metadata.
  (connection, { skill, given, presented }) => {
    const message = { messageId: crypto.randomUUID(), role: "ROLE_USER", parts: [] as Json[] };
    message.parts.push({ data: { skill, arguments: given } });
    const tokens = presented.flatMap(({ token }) => token ?? []).filter(isHeaderSafe);
    const headers: Record<string, string> =
      tokens.length === 0 ? {} : { [CAPABILITY_HEADER]: tokens.join(",") };
    return connection.method("SendMessage", { message }, headers);
  },
  bySdk("HTTP+JSON", true),
];

function isHeaderSafe(token: string): boolean {
  return /^[\x21-\x7e]*$/.test(token);
}

/** Returns request metadata that presents the capabilities. */
function metadataWith(presented: readonly PresentedCapability[]): JsonObject {
  return presented.length === 0 ? {} : { [EXTENSION_URI]: listOf(presented) };
}

/**
 * Returns the property `capabilities`. It is absent if no capability is presented, because an empty list is an error.
 */
function listOf(presented: readonly PresentedCapability[]): JsonObject {
  return presented.length === 0 ? {} : { capabilities: JSON.parse(JSON.stringify(presented)) };
}
