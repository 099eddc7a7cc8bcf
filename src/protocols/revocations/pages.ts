import { canonicalJson } from "../../bytes/json.js";
import { digestOfText } from "../../macaroon/hmac.js";
import { type RevocationEntry, readEntry } from "../../revocation/entry.js";
import type { RevocationSnapshot } from "../../revocation/list.js";
import { Pace } from "../../revocation/pace.js";
import { RevocationTable } from "../../revocation/table.js";

/**
 * A revocation list as it is sent. The name of a page is the digest of its text, so that services recognize
 * unchanged pages.
 */
export interface WrittenList {
  readonly version: number;
  /** Canonical JSON of the pages' names, in the order of the list. */
  readonly index: string;
  /** The digest of the index. */
  readonly digest: string;
  /** The pages by their names. A page is the canonical JSON of some of the entries. */
  readonly pages: ReadonlyMap<string, string>;
}

/**
 * Maximum number of characters in a page. In UTF-8, a page has up to three times as many bytes, and a service
 * accepts answers of up to 16 MiB.
 */
const PAGE = 4 * 1024 * 1024;
/** Length, in characters, from which a page ends at the next entry that may end a page. */
const SHORTEST: number = PAGE / 2;
const ENDS = 8192;

/**
 * Writes a list as pages, oldest entries first. Only an entry's own id decides whether the entry may end a
 * page. So added entries change only the last page, and removed entries change only their own page and a few
 * later pages. Pauses from time to time, so that other work can run.
 *
 * @param before - The previous result, whose strings are reused for unchanged pages.
 */
export async function writtenList(
  { version, entries }: RevocationSnapshot,
  before: WrittenList | undefined,
): Promise<WrittenList> {
  const pace = new Pace();
  const pages = new Map<string, string>();
  let texts: string[] = [];
  let length = 0;
  const cut = (): void => {
    if (texts.length === 0) return;
    const page = `[${texts.join()}]`;
    const name = digestOfText(page);
    pages.set(name, before?.pages.get(name) ?? page);
    texts = [];
    length = 0;
  };
  for (const entry of entries) {
    const text = textOf(entry);
    if (length + text.length > PAGE) cut();
    texts.push(text);
    length += text.length + 1;
    if (length >= SHORTEST && mayEnd(entry.id)) cut();
    if (pace.isOver) await pace.rest();
  }
  cut();
  const index = canonicalJson([...pages.keys()]);
  return { version, index, digest: digestOfText(index), pages };
}

/**
 * Returns the canonical JSON of an entry. Replaces lone surrogates, which canonical JSON cannot contain and no
 * token contains.
 */
function textOf(entry: RevocationEntry): string {
  const { id, reason } = entry;
  return canonicalJson({
    ...entry,
    id: id.toWellFormed(),
    ...(reason === undefined ? {} : { reason: reason.toWellFormed() }),
  });
}

/**
 * Returns whether an entry may end a page, by a hash of the last characters of its id. Most ids are random, and
 * a chosen id gives no advantage.
 */
function mayEnd(id: string): boolean {
  let hash = 0x811c9dc5;
  for (let at = Math.max(0, id.length - 16); at < id.length; at++) {
    hash = Math.imul(hash ^ id.charCodeAt(at), 0x01000193);
  }
  return (Math.imul(hash ^ (hash >>> 15), 0x2c1b3c6d) >>> 0) % ENDS === 0;
}

/** The pages that a service has read, as strings. After a change of the list, the service requests only new pages. */
export class ReadPages {
  readonly #texts: Map<string, string> = new Map();

  /**
   * Reads the missing pages one after another. If a page cannot be read, the pages before it are kept for the
   * next call. Pauses from time to time, so that other work can run.
   *
   * @param names - The names in an index made by the issuer.
   * @returns The entries of all pages.
   * @throws TypeError if a page does not match its name, or an entry is not well formed.
   */
  async table(
    names: readonly string[],
    read: (name: string) => Promise<string>,
  ): Promise<RevocationTable> {
    const pace = new Pace();
    const wanted = new Set(names);
    for (const name of this.#texts.keys()) if (!wanted.has(name)) this.#texts.delete(name);
    for (const name of wanted) {
      if (this.#texts.has(name)) continue;
      const text = await read(name);
      if (digestOfText(text) !== name)
        throw new TypeError("a page is not the one that was asked for");
      this.#texts.set(name, text);
      if (pace.isOver) await pace.rest();
    }
    const table = new RevocationTable();
    for (const text of this.#texts.values()) {
      const entries: RevocationEntry[] = JSON.parse(text);
      for (const entry of entries) {
        table.add(readEntry(entry));
        if (pace.isOver) await pace.rest();
      }
    }
    return table;
  }
}
