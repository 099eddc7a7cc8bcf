// Control characters (C0, C1, DEL), format characters (bidirectional marks, zero-width characters, tags),
// surrogates, private use, unassigned characters, and line and paragraph separators. Terminals and pages
// interpret such characters, or show nothing for them.
const UNSAFE = /[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Cn}\p{Zl}\p{Zp}]/gu;
const NAMED: Readonly<Record<string, string>> = { "\n": "\\n", "\r": "\\r", "\t": "\\t" };

/** Returns the string with every unsafe character escaped, such as `\u{1b}`. */
export function printable(text: string): string {
  return text.replace(UNSAFE, escapeOf);
}

/** Returns the escape of one character, such as `\n` or `\u{202e}`. */
export function escapeOf(character: string): string {
  const code = character.codePointAt(0) ?? 0;
  return NAMED[character] ?? `\\u{${code.toString(16)}}`;
}

/** Writes a value as JSON in which every unsafe character is escaped. */
export function escapedJson(value: unknown): string {
  return (JSON.stringify(value) ?? "null").replace(UNSAFE, (character) => {
    let escapes = "";
    for (let i = 0; i < character.length; i++) {
      escapes += `\\u${character.charCodeAt(i).toString(16).padStart(4, "0")}`;
    }
    return escapes;
  });
}
