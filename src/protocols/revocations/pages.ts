import { canonicalJson } from "../../bytes/json.js";
import { type RevocationEntry, readEntry } from "../../revocation/entry.js";
import type { RevocationSnapshot } from "../../revocation/list.js";
import { Pace } from "../../revocation/pace.js";
import { RevocationTable } from "../../revocation/table.js";
import { digestOf } from "./statement.js";

/** A list in the form in which it is sent. A page is named by the digest of its text, so an unchanged page is known. */
export interface WrittenList {
  readonly version: number;
  /** The pages' names in the order of the list, in canonical JSON. */
  readonly index: string;
  /** The digest of the index. */
  readonly digest: string;
  /** Pages by name: canonical JSON of some of the entries. */
  readonly pages: ReadonlyMap<string, string>;
}

/**
 * Size of a page in characters; in UTF-8 at most three times as many bytes, and a service reads answers of up
 * to 16 MiB.
 */
const PAGE = 4 * 1024 * 1024;
/** A page of this length ends at the next entry that may end a page; one entry in so many may. */
const SHORTEST: number = PAGE / 2;
const ENDS = 8192;

/**
 * Writes a list as pages. The oldest entries come first, and each entry alone determines whether it ends a
 * page: added entries change the last page, removed ones change their own page and a few after it. Other work
 * runs meanwhile.
 *
 * @param before - The list as written before; unchanged pages share its memory.
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
    const name = digestOf(page);
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
  return { version, index, digest: digestOf(index), pages };
}

/** A lone surrogate has no canonical form, and names in tokens have none. */
function textOf(entry: RevocationEntry): string {
  const { id, reason } = entry;
  return canonicalJson({
    ...entry,
    id: id.toWellFormed(),
    ...(reason === undefined ? {} : { reason: reason.toWellFormed() }),
  });
}

/** By the end of the id: most ids are random, and choosing one gains nothing. */
function mayEnd(id: string): boolean {
  let hash = 0x811c9dc5;
  for (let at = Math.max(0, id.length - 16); at < id.length; at++) {
    hash = Math.imul(hash ^ id.charCodeAt(at), 0x01000193);
  }
  return (Math.imul(hash ^ (hash >>> 15), 0x2c1b3c6d) >>> 0) % ENDS === 0;
}

/** The pages that a service has read, as strings; after a change it asks only for new pages. */
export class ReadPages {
  readonly #texts: Map<string, string> = new Map();

  /**
   * Reads the missing pages one after the other. If one fails, the others are kept for the next call. Other
   * work runs meanwhile.
   *
   * @param names - From an index made by the issuer.
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
      if (digestOf(text) !== name) throw new TypeError("a page is not the one that was asked for");
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
