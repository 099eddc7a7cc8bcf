import type { Message, Part } from "@a2a-js/sdk";

/** Returns a part with JSON. */
export function dataPart(value: unknown): Part {
  const content = { $case: "data", value } as const;
  return { content, mediaType: "application/json", filename: "", metadata: {} };
}

/** Returns a part with text. */
export function textPart(value: string): Part {
  const content = { $case: "text", value } as const;
  return { content, mediaType: "text/plain", filename: "", metadata: {} };
}

/** Returns a message with a new id. Other properties are empty unless given. */
export function newMessage(given: Pick<Message, "role" | "parts"> & Partial<Message>): Message {
  const empty = { contextId: "", taskId: "", metadata: {}, extensions: [], referenceTaskIds: [] };
  return { messageId: crypto.randomUUID(), ...empty, ...given };
}

/** The media types that a served agent accepts, as its card lists them. */
export const INPUT_MODES: readonly string[] = ["application/json", "text/plain"];

/**
 * Returns a sentence about the first part that is a file, or has an unsupported media type; `undefined` if
 * there is none.
 */
export function unsupportedPart(parts: readonly Part[]): string | undefined {
  for (const [at, { content, mediaType }] of parts.entries()) {
    const known = `understood are text and data parts of ${INPUT_MODES.join(" or ")}`;
    if (content?.$case === "raw" || content?.$case === "url") {
      return `message.parts[${at}] is a file; ${known}`;
    }
    const [type = ""] = mediaType.split(";", 1);
    if (mediaType === "" || INPUT_MODES.includes(type.trim().toLowerCase())) continue;
    return `message.parts[${at}] has the media type ${JSON.stringify(mediaType.slice(0, 64))}; ${known}`;
  }
  return undefined;
}
