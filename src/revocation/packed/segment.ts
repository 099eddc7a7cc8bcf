/** Words of a slot: a scrambled id, then when it goes. */
export const SLOT_WORDS = 5;
/** Slots of a page. A segment grows by pages, in place, so that nothing is copied into new memory. */
const PAGE_SHIFT = 10;
const PAGE_SLOTS = 1 << PAGE_SHIFT;
const FIRST_SLOTS = 8;
/** Of 256: a fuller segment grows. */
const FULLEST = 236;

/**
 * One part of a packed set: linear probing over slots in ascending order of their first word, so that a
 * look-up ends at the first greater one and removal leaves no marks. The fifth word of an empty slot is 0.
 * All words are scrambled already.
 */
export class Segment {
  readonly #pages: Uint32Array[] = [new Uint32Array(FIRST_SLOTS * SLOT_WORDS)];
  readonly #shift: number;
  #slots = FIRST_SLOTS;
  #used = 0;

  /** @param shift - How many high bits of the first word chose this segment. */
  constructor(shift: number) {
    this.#shift = shift;
  }

  get size(): number {
    return this.#used;
  }

  /** Of its slots. */
  get bytes(): number {
    return this.#slots * SLOT_WORDS * 4;
  }

  get pages(): number {
    return this.#pages.length;
  }

  /** Reads where a look-up of the id begins: the processor then has it at hand. */
  touch(ids: Uint32Array, from: number): number {
    return this.#word(this.#home(ids[from] ?? 0), 0);
  }

  /** When the id that is four words from `from` on goes; 0 if it is not here. */
  get(ids: Uint32Array, from = 0): number {
    const slot = this.#find(ids, from);
    return slot < 0 ? 0 : this.#word(slot, 4);
  }

  /** How many slots a look-up reads. */
  probes(id: Uint32Array): number {
    const slot = this.#find(id);
    return (slot < 0 ? ~slot : slot) - this.#home(id[0] ?? 0) + 1;
  }

  /** Adds an id, or keeps the later of its two times. */
  put(id: Uint32Array, until: number): boolean {
    let slot = this.#find(id);
    if (slot >= 0) {
      if (until > this.#word(slot, 4)) this.#page(slot)[this.#offset(slot) + 4] = until;
      return false;
    }
    if ((this.#used + 1) * 256 > this.#slots * FULLEST) this.#grow();
    for (;;) {
      slot = ~this.#find(id);
      if (this.#open(slot)) break;
      this.#grow();
    }
    this.#write(slot, id, until);
    this.#used++;
    return true;
  }

  /** Removes what goes at `now` or before; frees pages that are not needed any more. */
  prune(now: number): number {
    const before = this.#used;
    this.#packLeft(now);
    const most = slotsFor(this.#used);
    while (this.#used < before && this.#pages.length > 1 && this.#slots - PAGE_SLOTS >= most) {
      this.#pages.pop();
      this.#slots -= PAGE_SLOTS;
    }
    this.#packRight();
    this.#spread();
    return before - this.#used;
  }

  /** The slots that are used, in their order, copied into `words` from its start. */
  copy(words: Uint32Array): void {
    let to = 0;
    for (let slot = 0; slot < this.#slots; slot++) {
      if (this.#word(slot, 4) === 0) continue;
      const from = this.#offset(slot);
      words.set(this.#page(slot).subarray(from, from + SLOT_WORDS), to);
      to += SLOT_WORDS;
    }
  }

  /** Takes over what {@link copy} gave, into an empty segment. @returns Whether it is in order. */
  fill(words: Uint32Array): boolean {
    const count = words.length / SLOT_WORDS;
    while (this.#slots < slotsFor(count)) this.#extend();
    let last = -1;
    for (let at = 0; at < count; at++) {
      const first = words[at * SLOT_WORDS] ?? 0;
      if (first < last || words[at * SLOT_WORDS + 4] === 0) return false;
      last = first;
      const slot = this.#slots - count + at;
      this.#page(slot).set(
        words.subarray(at * SLOT_WORDS, (at + 1) * SLOT_WORDS),
        this.#offset(slot),
      );
    }
    this.#used = count;
    this.#spread();
    return true;
  }

  /** The slot of an id; otherwise `~` of the slot that it would take. */
  #find(ids: Uint32Array, from = 0): number {
    const first = ids[from] ?? 0;
    for (let slot = this.#home(first); slot < this.#slots; slot++) {
      const page = this.#page(slot);
      const at = this.#offset(slot);
      if (page[at + 4] === 0) return ~slot;
      const there = page[at] ?? 0;
      if (there > first) return ~slot;
      if (
        there === first &&
        page[at + 1] === ids[from + 1] &&
        page[at + 2] === ids[from + 2] &&
        page[at + 3] === ids[from + 3]
      ) {
        return slot;
      }
    }
    return ~this.#slots;
  }

  /** Where a look-up starts: the last slots are left to what runs over. */
  #home(first: number): number {
    const tail = Math.min(128, this.#slots >> 4);
    return Math.floor((((first << this.#shift) >>> 0) / 0x1_0000_0000) * (this.#slots - tail));
  }

  /** Moves what is in the way by one slot, up to the next that is empty. */
  #open(slot: number): boolean {
    let end = slot;
    while (end < this.#slots && this.#word(end, 4) !== 0) end++;
    if (end >= this.#slots) return false;
    for (let from = end - 1; from >= slot; from--) this.#move(from, from + 1);
    return true;
  }

  #grow(): void {
    // In one page slots are few, and replaced; after that pages are added.
    const more = Math.max(1, Math.floor(this.#pages.length / 20));
    for (let added = 0; added < more; added++) this.#extend();
    this.#packRight();
    this.#spread();
  }

  #extend(): void {
    const [first] = this.#pages;
    if (this.#slots < PAGE_SLOTS && first !== undefined) {
      const larger = new Uint32Array(first.length * 2);
      larger.set(first);
      this.#pages[0] = larger;
      this.#slots *= 2;
      return;
    }
    this.#pages.push(new Uint32Array(PAGE_SLOTS * SLOT_WORDS));
    this.#slots += PAGE_SLOTS;
  }

  /** Moves all to the end. */
  #packRight(): void {
    let to = this.#slots;
    for (let slot = this.#slots - 1; slot >= 0; slot--) {
      if (this.#word(slot, 4) !== 0 && --to !== slot) this.#take(slot, to);
    }
  }

  /** Moves all to the start, but for what goes at `now` or before. */
  #packLeft(now: number): void {
    let to = 0;
    for (let slot = 0; slot < this.#slots; slot++) {
      const until = this.#word(slot, 4);
      if (until === 0) continue;
      if (until <= now) this.#page(slot)[this.#offset(slot) + 4] = 0;
      else {
        if (to !== slot) this.#take(slot, to);
        to++;
      }
    }
    this.#used = to;
  }

  /** From the end, each to its home or the next slot: never past what is still to be moved. */
  #spread(): void {
    while (!this.#spreadOnce()) {
      if (this.#slots > PAGE_SLOTS && this.#slots > this.#used * 16) {
        throw new RangeError("ids crowd one place, which ids scrambled by this key do not");
      }
      this.#extend();
      this.#packRight();
    }
  }

  /** `false` where the last ones have no room behind their homes: order is kept, places are not. */
  #spreadOnce(): boolean {
    let free = 0;
    for (let slot = this.#slots - this.#used; slot < this.#slots; slot++) {
      const home = this.#home(this.#word(slot, 0));
      if (home > slot) return false;
      const to = Math.max(free, home);
      if (to !== slot) this.#take(slot, to);
      free = to + 1;
    }
    return true;
  }

  #take(from: number, to: number): void {
    this.#move(from, to);
    this.#page(from)[this.#offset(from) + 4] = 0;
  }

  #move(from: number, to: number): void {
    const source = this.#page(from);
    const target = this.#page(to);
    const at = this.#offset(from);
    const there = this.#offset(to);
    for (let word = 0; word < SLOT_WORDS; word++) target[there + word] = source[at + word] ?? 0;
  }

  #write(slot: number, id: Uint32Array, until: number): void {
    const page = this.#page(slot);
    const at = this.#offset(slot);
    for (let word = 0; word < 4; word++) page[at + word] = id[word] ?? 0;
    page[at + 4] = until;
  }

  #word(slot: number, word: number): number {
    return this.#page(slot)[this.#offset(slot) + word] ?? 0;
  }

  #page(slot: number): Uint32Array {
    return this.#pages[slot >> PAGE_SHIFT] ?? EMPTY;
  }

  #offset(slot: number): number {
    return (slot & (PAGE_SLOTS - 1)) * SLOT_WORDS;
  }
}

const EMPTY: Uint32Array = new Uint32Array(0);

/** Slots for so many entries, as growth one by one would have them or a little fewer. */
function slotsFor(count: number): number {
  const least = Math.ceil(((count + 1) * 256) / FULLEST);
  if (least > PAGE_SLOTS) return Math.ceil(least / PAGE_SLOTS) * PAGE_SLOTS;
  let slots = FIRST_SLOTS;
  while (slots < least) slots *= 2;
  return slots;
}
