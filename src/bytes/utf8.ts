const encoder = /* @__PURE__ */ new TextEncoder();
// ignoreBOM keeps a leading U+FEFF. If U+FEFF were dropped, two different byte strings would decode to the same
// string.
const decoder = /* @__PURE__ */ new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** Encodes a string as UTF-8. Lone surrogates become U+FFFD, so check {@link isWellFormed} first. */
export function encodeUtf8(text: string): Uint8Array {
  return encoder.encode(text);
}

/** Decodes UTF-8 bytes; `undefined` if they are not valid. */
export function decodeUtf8(bytes: Uint8Array): string | undefined {
  try {
    return decoder.decode(bytes);
  } catch {
    return undefined;
  }
}

/** Returns whether a string has no lone surrogate, so that it can be encoded as UTF-8. */
export function isWellFormed(text: string): boolean {
  return text.isWellFormed();
}
