/** The kind of a JSON-RPC message of which only the two ends are known. An answer is a result or an error. */
export type MessageEnds =
  | { readonly kind: "answer" | "request"; readonly id: string | number }
  | { readonly kind: "notification" };

// The ends may be cut within a character.
const lenient = /* @__PURE__ */ new TextDecoder();

const ID = String.raw`"id"\s*:\s*(0|[1-9]\d{0,14}|"[^"\\\0-\x1f]{0,100}")`;
const VERSION = String.raw`"jsonrpc"\s*:\s*"2\.0"`;
/** Matches the properties before the first that may be long: version and id, in any order. */
const HEAD = new RegExp(
  String.raw`^\s*\{\s*(?:${VERSION}\s*,\s*)?(?:${ID}\s*,\s*)?(?:${VERSION}\s*,\s*)?"(result|error|method|params)"\s*:`,
);
/**
 * Matches the properties after it. The end of the line must close the object, so that an id within the result or the
 * parameters is not taken for the id of the message.
 */
const TAIL = new RegExp(String.raw`,\s*(?:${VERSION}\s*,\s*)?${ID}\s*(?:,\s*${VERSION}\s*)?\}\s*$`);

/**
 * Finds the kind and the id of a JSON-RPC message that is too large to be read, so that its sender or the one who waits
 * for it gets an error.
 *
 * @param head - The first bytes of the message; 256 are enough.
 * @param tail - Its last bytes.
 * @returns `undefined` for what is no message, and for an answer without an id that can be found.
 */
export function jsonRpcEnds(head: Uint8Array, tail: Uint8Array): MessageEnds | undefined {
  const [, before, first] = HEAD.exec(lenient.decode(head)) ?? [];
  if (first === undefined) return undefined;
  const isAnswer = first === "result" || first === "error";
  const id = before ?? TAIL.exec(lenient.decode(tail))?.[1];
  if (id === undefined) return isAnswer ? undefined : { kind: "notification" };
  return { kind: isAnswer ? "answer" : "request", id: JSON.parse(id) };
}
