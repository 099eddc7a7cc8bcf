import type { Message, Part } from "@a2a-js/sdk";

/** A part that holds JSON. */
export function dataPart(value: unknown): Part {
  const content = { $case: "data", value } as const;
  return { content, mediaType: "application/json", filename: "", metadata: {} };
}

/** A part that holds words. */
export function textPart(value: string): Part {
  const content = { $case: "text", value } as const;
  return { content, mediaType: "text/plain", filename: "", metadata: {} };
}

/** A message with an id of its own; of no task, and without extensions, unless they are given. */
export function newMessage(given: Pick<Message, "role" | "parts"> & Partial<Message>): Message {
  const empty = { contextId: "", taskId: "", metadata: {}, extensions: [], referenceTaskIds: [] };
  return { messageId: crypto.randomUUID(), ...empty, ...given };
}

/** The media types that an agent of this kind understands, as its card lists them. */
export const INPUT_MODES: readonly string[] = ["application/json", "text/plain"];

/** What of a message's parts is of a media type that is not understood, in a sentence. */
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
