import {
  type Bounds,
  KINDS,
  mergeBounds,
  type RevocationEntry,
  type RevocationKind,
} from "../entry.js";
import { concerns, findIn, type RevocationLookup } from "../lookup.js";
import type { RevocationQuery } from "../source.js";
import { PackedIds } from "./packed-ids.js";

/** A thing that is revoked, and until when. */
export interface PackedEntry {
  readonly kind: RevocationKind;
  readonly id: string;
  readonly record: Bounds;
}

/** Loose entries that are worked through at once. */
const SOME = 1000;

/**
 * What a list revokes, and until when: enough for a check, and no more. Ids of links and capabilities are packed;
 * keys, principals and ids of another form, of which there are few, are in maps.
 */
export class PackedTable implements RevocationLookup {
  readonly links: PackedIds;
  readonly capabilities: PackedIds;
  readonly #loose: Readonly<Record<RevocationKind, Map<string, Bounds>>> = {
    link: new Map(),
    capability: new Map(),
    key: new Map(),
    principal: new Map(),
  };

  /** @param links,capabilities - What it starts from. */
  constructor(
    links: PackedIds = new PackedIds("rv_"),
    capabilities: PackedIds = new PackedIds("cap_"),
  ) {
    this.links = links;
    this.capabilities = capabilities;
  }

  get size(): number {
    const packed = this.links.size + this.capabilities.size;
    return Object.values(this.#loose).reduce((sum, { size }) => sum + size, packed);
  }

  /** Adds to what is known of a thing: what either says is revoked, for as long as either says. */
  add({ kind, id, record: { before, until } }: PackedEntry): void {
    if (this.#packedOf(kind)?.add(id, until ?? Number.POSITIVE_INFINITY) === true) return;
    const known = this.#loose[kind].get(id);
    const record = { before, until };
    this.#loose[kind].set(id, known === undefined ? record : mergeBounds(known, record));
  }

  /** The kind and id of every entry that concerns the token. */
  find(query: RevocationQuery): RevocationEntry[] {
    return findIn(this, query);
  }

  /** @internal */
  collect(
    kind: RevocationKind,
    ids: readonly string[],
    issued: number,
    found: RevocationEntry[],
  ): void {
    const packed = this.#packedOf(kind)?.which(ids) ?? [];
    const loose = this.#loose[kind];
    if (packed.length === 0 && loose.size === 0) return;
    for (const id of ids) {
      const record = loose.get(id);
      if (record === undefined ? !packed.includes(id) : !concerns(record.before, issued)) continue;
      found.push(Object.freeze({ kind, id }));
    }
  }

  /**
   * Removes entries whose tokens have all expired, some at a time: between two yields a caller can let other
   * work run. What is not reached yet is still found.
   *
   * @param now - Seconds since 1970.
   */
  *pruning(now: number): Generator<void, void> {
    let seen = 0;
    for (const records of Object.values(this.#loose)) {
      for (const [id, { until }] of records) {
        if (until !== undefined && until <= now) records.delete(id);
        if (++seen % SOME === 0) yield;
      }
    }
    for (const packed of [this.links, this.capabilities]) {
      for (const _ of packed.pruning(now)) yield;
    }
  }

  /** What is not packed. */
  *loose(): Generator<PackedEntry, void> {
    for (const kind of KINDS) {
      for (const [id, record] of this.#loose[kind]) yield { kind, id, record };
    }
  }

  #packedOf(kind: RevocationKind): PackedIds | undefined {
    return kind === "link" ? this.links : kind === "capability" ? this.capabilities : undefined;
  }
}
