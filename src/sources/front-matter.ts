import type * as Yaml from "yaml";
import { isFilterable, MAX_NAME_LENGTH } from "../agent/resources/filter.js";
import { decodeUtf8 } from "../bytes/utf8.js";
import { type Scalar, shown } from "../caveats/scalar.js";
import { ResourceError } from "./resource-error.js";

/** The metadata at the start of a file. */
interface FrontMatter {
  readonly fields: { readonly [field: string]: Scalar };
  /** The reason why the front matter is invalid; `fields` is empty in this case. */
  readonly problem?: string;
}

/**
 * Parses the front matter of a file.
 *
 * @param head - At least the first {@link HEAD_BYTES} bytes of the file.
 */
export type FrontMatterReader = (head: Uint8Array) => FrontMatter;

const MAX_BYTES = 65_536;
/** The front matter must end within this number of bytes, including its last line. */
export const HEAD_BYTES: number = MAX_BYTES + 16;
const MAX_FIELDS = 64;
// yaml builds nested values by recursion. A stack overflow could end the whole process.
const MAX_DEPTH = 40;
const MAX_LEXEMES = 4000;

const OPENING = /^(?:\u00ef\u00bb\u00bf)?---[ \t]*\r?\n/;
const CLOSING = /(?:^|\r?\n)---[ \t]*(?:\r?\n|$)/;
const INTEGER = /^[-+]?(?:\d+|0x[\da-f]+|0o[0-7]+)$/i;

/**
 * Loads the package yaml, which only folders need.
 *
 * @throws ResourceError `source_unavailable`.
 */
export async function loadFrontMatterReader(path: string): Promise<FrontMatterReader> {
  let yaml: typeof Yaml;
  try {
    yaml = await import("yaml");
  } catch (cause) {
    throw new ResourceError("source_unavailable", path, "npm install yaml", cause);
  }
  return (head) => {
    try {
      const text = frontMatterOf(head);
      return { fields: text === undefined ? {} : fieldsOf(yaml, text) };
    } catch (error) {
      return { fields: {}, problem: error instanceof Error ? error.message : String(error) };
    }
  };
}

/** Returns the text between the two lines of dashes; `undefined` if the file does not start with a line of dashes. */
function frontMatterOf(head: Uint8Array): string | undefined {
  // In Latin-1, each byte is one character, so line ends can be found in any bytes.
  const bytes = Buffer.from(head.buffer, head.byteOffset, head.byteLength);
  const text = bytes.toString("latin1");
  const start = OPENING.exec(text)?.[0].length;
  if (start === undefined) return undefined;
  const closing = CLOSING.exec(text.slice(start));
  if (closing === null || closing.index > MAX_BYTES) {
    throw new Error(`its front matter is not closed by "---" within ${MAX_BYTES} bytes`);
  }
  const inside = decodeUtf8(head.subarray(start, start + closing.index));
  if (inside === undefined) throw new Error("its front matter is not UTF-8");
  return inside;
}

function fieldsOf(yaml: typeof Yaml, text: string): { readonly [field: string]: Scalar } {
  const root = compose(yaml, text).contents;
  if (root === null || (yaml.isScalar(root) && root.value === null)) return {};
  if (!yaml.isMap(root)) throw new Error("its front matter is not a list of fields");
  const fields = new Map<string, Scalar>();
  const names = new Set<string>();
  for (const { key, value } of root.items) {
    if (yaml.isAlias(key) || yaml.isAlias(value)) {
      throw new Error("its front matter has an alias for a field, which is not looked up");
    }
    const name = yaml.isScalar(key) ? key.value : undefined;
    if (typeof name !== "string")
      throw new Error("its front matter has a key that is not a string");
    if (names.has(name)) throw new Error(`its front matter has ${shown(name)} twice`);
    if (names.add(name).size > MAX_FIELDS) {
      throw new Error(`its front matter has more than ${MAX_FIELDS} fields`);
    }
    const scalar = yaml.isScalar(value) || value === null ? scalarOf(value) : undefined;
    if (scalar !== undefined && name.length <= MAX_NAME_LENGTH) fields.set(name, scalar);
  }
  return Object.fromEntries(fields);
}

function compose(yaml: typeof Yaml, text: string): Yaml.Document {
  const composer = new yaml.Composer({
    schema: "core",
    resolveKnownTags: false,
    stringKeys: true,
    // yaml would take quadratic time to find duplicate keys. `fieldsOf` finds them instead.
    uniqueKeys: false,
  });
  const [document, another] = composer.compose(tokens(yaml, text), true, text.length);
  if (document === undefined || another !== undefined) {
    throw new Error("its front matter is not one YAML document");
  }
  const [problem] = [...document.errors, ...document.warnings];
  if (problem !== undefined) {
    throw new Error(`its front matter is not sound YAML: ${problem.message.slice(0, 200)}`);
  }
  return document;
}

function* tokens(yaml: typeof Yaml, text: string): Generator<Yaml.CST.Token, void> {
  const parser = new yaml.Parser();
  let count = 0;
  for (const lexeme of new yaml.Lexer().lex(text)) {
    yield* parser.next(lexeme);
    if (++count > MAX_LEXEMES || parser.stack.length > MAX_DEPTH) {
      throw new Error("its front matter is too large or too deep");
    }
  }
  yield* parser.end();
}

/** Returns the value of a field; `undefined` if filters cannot use it. */
function scalarOf(node: Yaml.Scalar | null): Scalar | undefined {
  const value: unknown = node?.value ?? null;
  if (!isFilterable(value)) return undefined;
  // An integer that was rounded would be equal to other integers.
  const rounded = typeof value === "number" && !Number.isSafeInteger(value);
  return rounded && INTEGER.test(node?.source ?? "") ? undefined : value;
}
