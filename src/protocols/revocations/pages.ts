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

/**
 * Writes a list out. Oldest come first, so that entries added to a list leave all pages but the last as they are.
 * Other work runs meanwhile.
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
