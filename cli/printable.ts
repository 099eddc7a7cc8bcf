/**
 * Text from a token or a file, made safe to show. A terminal acts on control characters, and
 * direction marks make text read as something it is not, so neither reaches it raw.
 */

// Controls (C0, C1, DEL), formats (bidirectional marks, zero-width, tags), surrogates, private use,
// unassigned, line and paragraph separators.
const UNSAFE = /[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Cn}\p{Zl}\p{Zp}]/gu;
const NAMED: Readonly<Record<string, string>> = { "\n": "\\n", "\r": "\\r", "\t": "\\t" };

/** The text with every unsafe character as an escape, such as `\u{1b}`. */
export function printable(text: string): string {
  return text.replace(UNSAFE, (character) => {
    const code = character.codePointAt(0) ?? 0;
    return NAMED[character] ?? `\\u{${code.toString(16)}}`;
  });
}

/** The text as a quoted JSON string without unsafe characters. */
export function quoted(text: string): string {
  return escapedJson(text);
}

/** JSON whose strings hold no unsafe character raw; it reads back as the same value. */
export function escapedJson(value: unknown): string {
  return (JSON.stringify(value) ?? "null").replace(UNSAFE, (character) => {
    let escapes = "";
    for (let i = 0; i < character.length; i++) {
      escapes += `\\u${character.charCodeAt(i).toString(16).padStart(4, "0")}`;
    }
    return escapes;
  });
}

/** The text, cut where it is longer than so many characters. */
export function cut(text: string, length: number): string {
  return text.length > length ? `${text.slice(0, length)}...` : text;
}

// Long enough for a kid or a handle, shorter than any signature in any encoding.
const TOKEN_LIKE = /[A-Za-z0-9_+/=-]{41,}/g;

/** The text with whatever could be a token or a key cut down to its first characters. */
export function withoutTokens(text: string): string {
  return text.replace(TOKEN_LIKE, (run) => `${run.slice(0, 8)}...`);
}
