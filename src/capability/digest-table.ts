/** Bytes of a digest, each a character of the text that it is given as. */
const DIGEST_LENGTH = 32;

const FIRST_ROOM = 64;

/**
 * Values by digest, in the order of their use. Digests and links between entries lie in flat arrays: a map and a
 * list of nodes, once the collector of young objects has moved them to the old ones, keep alive whatever was young
 * when they last held it, long after it has left.
 *
 * An entry is a number from 1 on, for as long as it is kept; 0 is no entry.
 */
export class DigestTable<Value> {
  #room = 0;
  #size = 0;
  /** The entry that was removed last; `#next` leads to the one before. */
  #removed = 0;
  readonly #values: (Value | undefined)[] = [];
  #digests: Uint8Array = new Uint8Array(0);
  #buckets: Int32Array = new Int32Array(1);
  #next: Int32Array = new Int32Array(1);
  // Entry 0 closes the ring: it is older than the newest and newer than the oldest.
  #older: Int32Array = new Int32Array(1);
  #newer: Int32Array = new Int32Array(1);

  get size(): number {
    return this.#size;
  }

  /** The least recently used entry. */
  get oldest(): number {
    return this.#newer[0] as number;
  }

  /** The entry that was used just after this one. */
  after(entry: number): number {
    return this.#newer[entry] as number;
  }

  value(entry: number): Value | undefined {
    return this.#values[entry];
  }

  /** The entry of a digest. */
  find(digest: string): number {
    const [a, b, c] = [digest.charCodeAt(0), digest.charCodeAt(1), digest.charCodeAt(2)];
    const bucket = this.#bucketOf(a, b, c);
    let entry = this.#buckets[bucket] as number;
    while (entry !== 0 && !this.#has(entry, digest)) entry = this.#next[entry] as number;
    return entry;
  }

  /** Adds a value, as the one used most recently, for a digest that has none. */
  add(digest: string, value: Value): void {
    let entry = this.#removed;
    if (entry === 0) {
      entry = this.#size + 1;
      if (entry > this.#room) this.#grow();
    } else this.#removed = this.#next[entry] as number;
    this.#size++;
    this.#values[entry] = value;
    for (let i = 0; i < DIGEST_LENGTH; i++) {
      this.#digests[DIGEST_LENGTH * entry + i] = digest.charCodeAt(i);
    }
    this.#link(entry);
    this.#append(entry);
  }

  /** Makes an entry the one used most recently. */
  use(entry: number): void {
    this.#unlink(entry);
    this.#append(entry);
  }

  remove(entry: number): void {
    const bucket = this.#bucketOfEntry(entry);
    const next = this.#next[entry] as number;
    let before = this.#buckets[bucket] as number;
    if (before === entry) this.#buckets[bucket] = next;
    else {
      while (this.#next[before] !== entry) before = this.#next[before] as number;
      this.#next[before] = next;
    }
    this.#unlink(entry);
    this.#values[entry] = undefined;
    this.#next[entry] = this.#removed;
    this.#removed = entry;
    this.#size--;
  }

  // Digests are random to callers, who do not have their key, so any of their bits spread entries evenly.
  #bucketOf(a: number, b: number, c: number): number {
    return (a | (b << 8) | (c << 16)) & (this.#buckets.length - 1);
  }

  #bucketOfEntry(entry: number): number {
    const [digests, at] = [this.#digests, DIGEST_LENGTH * entry];
    return this.#bucketOf(
      digests[at] as number,
      digests[at + 1] as number,
      digests[at + 2] as number,
    );
  }

  /** In the same time wherever they differ. */
  #has(entry: number, digest: string): boolean {
    const at = DIGEST_LENGTH * entry;
    let difference = digest.length ^ DIGEST_LENGTH;
    for (let i = 0; i < DIGEST_LENGTH; i++) {
      difference |= (this.#digests[at + i] as number) ^ digest.charCodeAt(i);
    }
    return difference === 0;
  }

  #link(entry: number): void {
    const bucket = this.#bucketOfEntry(entry);
    this.#next[entry] = this.#buckets[bucket] as number;
    this.#buckets[bucket] = entry;
  }

  #append(entry: number): void {
    const newest = this.#older[0] as number;
    this.#older[entry] = newest;
    this.#newer[entry] = 0;
    this.#newer[newest] = entry;
    this.#older[0] = entry;
  }

  #unlink(entry: number): void {
    const [older, newer] = [this.#older[entry] as number, this.#newer[entry] as number];
    this.#newer[older] = newer;
    this.#older[newer] = older;
  }

  /** Doubles the room, when every entry is in use. */
  #grow(): void {
    this.#room = Math.max(FIRST_ROOM, 2 * this.#room);
    const count = this.#room + 1;
    const larger = (array: Int32Array): Int32Array => {
      const copy = new Int32Array(count);
      copy.set(array);
      return copy;
    };
    const digests = new Uint8Array(DIGEST_LENGTH * count);
    digests.set(this.#digests);
    this.#digests = digests;
    this.#older = larger(this.#older);
    this.#newer = larger(this.#newer);
    this.#next = new Int32Array(count);
    this.#buckets = new Int32Array(2 * this.#room);
    for (let entry = this.oldest; entry !== 0; entry = this.after(entry)) this.#link(entry);
  }
}
