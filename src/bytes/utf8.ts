const encoder = /* @__PURE__ */ new TextEncoder();
// ignoreBOM keeps a leading U+FEFF: dropping it would let two different byte strings read alike.
const decoder = /* @__PURE__ */ new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** UTF-8 bytes of `text`. Lone surrogates become U+FFFD, so check {@link isWellFormed} first. */
export function encodeUtf8(text: string): Uint8Array {
  return encoder.encode(text);
}

/** The text of `bytes`, or `undefined` if they are not UTF-8. */
export function decodeUtf8(bytes: Uint8Array): string | undefined {
  try {
    return decoder.decode(bytes);
  } catch {
    return undefined;
  }
}

/** Returns whether `text` has no lone surrogate, that is, has a UTF-8 form. */
export function isWellFormed(text: string): boolean {
  return text.isWellFormed();
}
