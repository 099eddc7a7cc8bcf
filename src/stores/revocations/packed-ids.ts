/** The prefix before the bits of an id. */
type IdPrefix = "rv_" | "cap_";

/**
 * Ids that can be packed: 128 bits for a link, 96 bits for a capability. Unused bits in the last character must
 * be 0.
 */
const FORMS: Readonly<Record<IdPrefix, RegExp>> = {
  rv_: /^rv_[\w-]{21}[AQgw]$/,
  cap_: /^cap_[\w-]{16}$/,
};

/** Number of 32-bit words in an entry: four for the id, one for the time of its removal. */
const ENTRY = 5;
/** Number of entries per page. */
const PAGE = 512;
/** The removal time that means never. Times after 2106 do not fit and are stored as never. */
const NEVER = 0xffff_ffff;

/** A page of entries, ascending by id. */
interface Page {
  readonly words: Uint32Array;
  size: number;
}

/**
 * Ids of one kind, each with its removal time. An entry has 20 bytes. With the free space in its page, it takes
 * 28 bytes at a million ids. Entries are sorted in pages, which are split when full. Look-ups compare whole
 * ids, so they are exact, and no choice of ids makes them slow. Ids of any other form must be stored elsewhere.
 */
export class PackedIds {
  readonly #prefix: IdPrefix;
  readonly #pages: Page[] = [newPage()];
  /** The first word of each page, contiguous in memory. */
  readonly #firsts: number[] = [0];
  /** The sought id, which is being looked up or added, as words. */
  readonly #id: Uint32Array = new Uint32Array(4);
  /** The sought id as bytes; the last four bytes of a capability's id stay 0. */
  readonly #bytes = Buffer.alloc(16);
  #size = 0;

  constructor(prefix: IdPrefix) {
    this.#prefix = prefix;
  }

  get size(): number {
    return this.#size;
  }

  /** Bytes of all pages. */
  get bytes(): number {
    return this.#pages.length * PAGE * ENTRY * 4;
  }

  /**
   * Adds an id. If the id exists, keeps the later of both times.
   *
   * @param until - Seconds since 1970; `Infinity` for never.
   * @returns `true` if the id can be packed. An id that cannot be packed is not added.
   */
  add(id: string, until: number): boolean {
    if (!this.#seek(id)) return false;
    const time = Math.min(Math.max(until, 1), NEVER);
    let number = this.#pageOf();
    let page = this.#pageAt(number);
    let at = this.#placeIn(page);
    if (this.#isAt(page, at)) {
      const last = at * ENTRY + 4;
      page.words[last] = Math.max(page.words[last] ?? 0, time);
      return true;
    }
    if (page.size === PAGE) {
      this.#split(number);
      number = this.#pageOf();
      page = this.#pageAt(number);
      at = this.#placeIn(page);
    }
    page.words.copyWithin((at + 1) * ENTRY, at * ENTRY, page.size * ENTRY);
    page.words.set(this.#id, at * ENTRY);
    page.words[at * ENTRY + 4] = time;
    page.size++;
    this.#firsts[number] = page.words[0] ?? 0;
    this.#size++;
    return true;
  }

  /** Returns the removal time of an id: seconds since 1970, `Infinity` for never, `undefined` if the id is absent. */
  get(id: string): number | undefined {
    if (!this.#seek(id)) return undefined;
    const page = this.#pageAt(this.#pageOf());
    const at = this.#placeIn(page);
    if (!this.#isAt(page, at)) return undefined;
    const time = page.words[at * ENTRY + 4] ?? 0;
    return time === NEVER ? Number.POSITIVE_INFINITY : time;
  }

  /**
   * Removes ids whose time is `now` or earlier, one page at a time, so that the caller can let other work run
   * between two steps. Look-ups find each id until it is removed.
   *
   * @param now - Seconds since 1970.
   */
  *pruning(now: number): Generator<void, void> {
    const last = Math.min(Math.floor(now), NEVER - 1);
    for (let number = 0; number < this.#pages.length; ) {
      const page = this.#pageAt(number);
      this.#size -= removeOver(page, last);
      const before = this.#pages[number - 1];
      if (before !== undefined && before.size + page.size <= PAGE) {
        before.words.set(page.words.subarray(0, page.size * ENTRY), before.size * ENTRY);
        before.size += page.size;
        this.#pages.splice(number, 1);
        this.#firsts.splice(number, 1);
        this.#firsts[number - 1] = before.words[0] ?? 0;
      } else {
        this.#firsts[number] = page.words[0] ?? 0;
        number++;
      }
      yield;
    }
  }

  /**
   * Parses the sought id.
   * @returns `true` if the id can be packed.
   */
  #seek(id: string): boolean {
    if (!FORMS[this.#prefix].test(id)) return false;
    this.#bytes.write(id.slice(this.#prefix.length), "base64url");
    for (let word = 0; word < 4; word++) this.#id[word] = this.#bytes.readUInt32BE(word * 4);
    return true;
  }

  /** Returns the index of the last page whose first id is not higher than the sought id; 0 if there is no such page. */
  #pageOf(): number {
    const first = this.#id[0] ?? 0;
    let [low, high] = [0, this.#pages.length - 1];
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      const start = this.#firsts[middle] ?? 0;
      const isBefore =
        start === first ? this.#compare(this.#pageAt(middle), 0) <= 0 : start < first;
      if (isBefore) low = middle;
      else high = middle - 1;
    }
    return low;
  }

  /** Returns the position of the first entry in a page that is not lower than the sought id. */
  #placeIn(page: Page): number {
    let [low, high] = [0, page.size];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.#compare(page, middle) < 0) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  #isAt(page: Page, at: number): boolean {
    return at < page.size && this.#compare(page, at) === 0;
  }

  /** Compares an entry with the sought id: negative if the entry is lower, 0 if equal, positive if higher. */
  #compare({ words }: Page, at: number): number {
    for (let word = 0; word < 4; word++) {
      const difference = (words[at * ENTRY + word] ?? 0) - (this.#id[word] ?? 0);
      if (difference !== 0) return difference;
    }
    return 0;
  }

  /** Moves the second half of a full page to a new page after it. */
  #split(number: number): void {
    const page = this.#pageAt(number);
    const half = PAGE / 2;
    const behind = newPage();
    behind.words.set(page.words.subarray(half * ENTRY));
    behind.size = page.size - half;
    page.size = half;
    this.#pages.splice(number + 1, 0, behind);
    this.#firsts.splice(number + 1, 0, behind.words[0] ?? 0);
  }

  #pageAt(number: number): Page {
    const page = this.#pages[number];
    if (page === undefined) throw new RangeError(`there is no page ${number}`);
    return page;
  }
}

function newPage(): Page {
  return { words: new Uint32Array(PAGE * ENTRY), size: 0 };
}

/**
 * Removes the entries of a page whose time is `last` or earlier.
 * @returns The number of entries removed.
 */
function removeOver(page: Page, last: number): number {
  const { words, size } = page;
  let kept = 0;
  for (let at = 0; at < size; at++) {
    if ((words[at * ENTRY + 4] ?? 0) <= last) continue;
    if (at !== kept) words.copyWithin(kept * ENTRY, at * ENTRY, (at + 1) * ENTRY);
    kept++;
  }
  page.size = kept;
  return size - kept;
}
