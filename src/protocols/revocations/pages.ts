import { canonicalJson } from "../../bytes/json.js";
import { type RevocationEntry, readEntry } from "../../revocation/entry.js";
import type { RevocationSnapshot } from "../../revocation/list.js";
import { Pace } from "../../revocation/pace.js";
import { RevocationTable } from "../../revocation/table.js";
import { digestOf } from "./statement.js";

/** A list as it is sent. Pages have the digests of their texts for names: one that has not changed is known. */
export interface WrittenList {
  readonly version: number;
  /** The pages' names in the order of the list, in canonical JSON. */
  readonly index: string;
  /** Of the index. */
  readonly digest: string;
  /** Canonical JSON of some of the entries, by name. */
  readonly pages: ReadonlyMap<string, string>;
}

/** Characters; in UTF-8 three times as many bytes at most, and a service reads an answer of 16 MiB. */
const PAGE = 4 * 1024 * 1024;
/** A page that is as long ends at the next entry that may end one; one in so many may. */
const SHORTEST: number = PAGE / 2;
const ENDS = 8192;

/**
 * Writes a list out. Oldest come first, and an entry by itself decides whether it ends a page: entries that are added
 * change the last page, and those that are removed change their own and few behind it. Other work runs meanwhile.
 *
 * @param before - The list as it was written before: what has not changed takes no memory twice.
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

/** A half of a surrogate pair has no canonical form, and no token has one in its names. */
function textOf(entry: RevocationEntry): string {
  const { id, reason } = entry;
  return canonicalJson({
    ...entry,
    id: id.toWellFormed(),
    ...(reason === undefined ? {} : { reason: reason.toWellFormed() }),
  });
}

/** By the end of the id: most are random, and no one gains by choosing theirs. */
function mayEnd(id: string): boolean {
  let hash = 0x811c9dc5;
  for (let at = Math.max(0, id.length - 16); at < id.length; at++) {
    hash = Math.imul(hash ^ id.charCodeAt(at), 0x01000193);
  }
  return (Math.imul(hash ^ (hash >>> 15), 0x2c1b3c6d) >>> 0) % ENDS === 0;
}

/** The pages that a service has read, as texts: of a list that has changed it asks for the other pages alone. */
export class ReadPages {
  readonly #texts: Map<string, string> = new Map();

  /**
   * Reads what is missing, one page after the other. Those that were read stay for the next call where one fails.
   * Other work runs meanwhile.
   *
   * @param names - From an index that its issuer made.
   * @returns The entries of all pages.
   * @throws TypeError if a page is not what its name says, or an entry is not well formed.
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
