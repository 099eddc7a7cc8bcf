/**
 * The kind and the id of a JSON-RPC message of which only the two ends are known. An answer is a result or an error.
 */
export type MessageEnds =
  | { readonly kind: "answer" | "request"; readonly id: string | number }
  | { readonly kind: "notification" };

// The two ends may have been cut within a character, so decoding them must not throw.
const lenient = /* @__PURE__ */ new TextDecoder();

const ID = String.raw`"id"\s*:\s*(0|[1-9]\d{0,14}|"[^"\\\0-\x1f]{0,100}")`;
const VERSION = String.raw`"jsonrpc"\s*:\s*"2\.0"`;
/** Matches the beginning of a message: version and id, in any order, up to the first property that may be long. */
const HEAD = new RegExp(
  String.raw`^\s*\{\s*(?:${VERSION}\s*,\s*)?(?:${ID}\s*,\s*)?(?:${VERSION}\s*,\s*)?"(result|error|method|params)"\s*:`,
);
/**
 * Matches the end of a message, after the property that may be long. The object must end with the line, so that an id
 * within the result or the parameters is not taken for the id of the message.
 */
const TAIL = new RegExp(String.raw`,\s*(?:${VERSION}\s*,\s*)?${ID}\s*(?:,\s*${VERSION}\s*)?\}\s*$`);

/**
 * Finds the kind and the id of a JSON-RPC message that is too large to be read. An error can then go to the party
 * that sent the request or waits for the answer.
 *
 * @param head - The first bytes of the message; 256 are enough.
 * @param tail - The last bytes of the message.
 * @returns `undefined` if the bytes do not begin like a message, or if the message is an answer whose id cannot be
 *   found. A request whose id cannot be found counts as a notification.
 */
export function jsonRpcEnds(head: Uint8Array, tail: Uint8Array): MessageEnds | undefined {
  const [, before, first] = HEAD.exec(lenient.decode(head)) ?? [];
  if (first === undefined) return undefined;
  const isAnswer = first === "result" || first === "error";
  const id = before ?? TAIL.exec(lenient.decode(tail))?.[1];
  if (id === undefined) return isAnswer ? undefined : { kind: "notification" };
  return { kind: isAnswer ? "answer" : "request", id: JSON.parse(id) };
}
