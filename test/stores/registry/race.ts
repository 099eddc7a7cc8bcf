import { expect, test } from "vitest";
import type {
  RegistryDraft,
  RegistryStore,
  RegistryView,
} from "../../../src/agent/registry/registry-store.js";
import { type LedgerStore, openLedger } from "../../../src/stores/ledger/ledger-store.js";
import { openRegistry } from "../../../src/stores/registry/registry-store.js";
import { onBothDatabases } from "../../support/databases.js";
import { sized } from "../../support/size.js";
import { databaseAt, NOW } from "./support.js";

/** Gives what it did, as the ledger calls it; `undefined` where it came too late to do anything. */
export type Contender = (store: RegistryStore, round: string) => Promise<string | undefined>;

/** What happens at once to the same records, each contender on another connection than the one before it. */
export interface Race {
  readonly name: string;
  /** Makes what is there before; its ids have the round in them. */
  readonly before?: (draft: RegistryDraft, round: string) => Promise<void>;
  readonly contenders: readonly [Contender, Contender, ...Contender[]];
  /** Checks what is there after, and what each contender did, in their order. */
  readonly after: (view: RegistryView, round: string, did: Did) => Promise<void>;
}

export type Did = readonly (string | undefined)[];

/** How often each race is run, how many rounds of it at once, and how many races. */
const ROUNDS = sized(100, 3);
const AT_ONCE = 10;
const HEATS_AT_ONCE = 5;
const LONGEST = 600_000;

/** A contender that decides on a draft whether it does anything, and notes that it has. */
export function does(
  change: string,
  decide: (draft: RegistryDraft, round: string) => Promise<boolean>,
): Contender {
  const at = new Date(NOW).toISOString();
  return (store, round) =>
    store.change(async (draft) => {
      if (!(await decide(draft, round))) return undefined;
      draft.note({ kind: "registration", at, decision: "allowed", change, record: round });
      return change;
    });
}

/**
 * Runs races on both databases, with two connections to each. The ledger must have what the contenders say that
 * they did, and nothing else.
 */
export function runRaces(races: readonly Race[]): void {
  onBothDatabases((place) => {
    test(
      `each of ${races.length} races has one outcome in ${ROUNDS} rounds`,
      async () => {
        const where = await place();
        const [one, two] = [await databaseAt(where), await databaseAt(where)];
        // However slow the machine is, no change gives up.
        const stores = [one, two].map((database) => openRegistry(database, { runs: 1000 }));
        const ledger = openLedger(one);
        const done = new Map<string, Did>();
        const heats = heatsOf(races);
        // Each takes the next, until there is none.
        const play = async (): Promise<void> => {
          for (let heat = heats.pop(); heat !== undefined; heat = heats.pop()) {
            const did = await run(heat, stores);
            await check(heat, did, stores);
            for (const [id, what] of did) done.set(id, what);
          }
        };
        await Promise.all(Array.from({ length: HEATS_AT_ONCE }, play));
        expect(await noted(ledger)).toEqual(sorted(done));
        await ledger.close();
      },
      LONGEST,
    );
  });
}

/** Rounds of a race that are run at once. */
interface Heat {
  readonly race: Race;
  readonly rounds: readonly { readonly turn: number; readonly id: string }[];
}

function heatsOf(races: readonly Race[]): Heat[] {
  return races.flatMap((race, number) => {
    const rounds = Array.from({ length: ROUNDS }, (_, turn) => ({ turn, id: `${number}.${turn}` }));
    const starts = rounds.map((_, at) => at).filter((at) => at % AT_ONCE === 0);
    return starts.map((at) => ({ race, rounds: rounds.slice(at, at + AT_ONCE) }));
  });
}

async function run(
  { race: { before, contenders }, rounds }: Heat,
  stores: readonly RegistryStore[],
): Promise<ReadonlyMap<string, Did>> {
  await stores[0]?.change(async (draft) => {
    for (const { id } of rounds) await before?.(draft, id);
  });
  const played = rounds.map(async ({ turn, id }) => {
    const did: (string | undefined)[] = [];
    // Each is the first to start as often as the others, and on either connection.
    const order = contenders.map((_, at) => (at + turn) % contenders.length);
    const runs = order.map(async (which, at) => {
      const store = stores[(at + Math.floor(turn / order.length)) % 2];
      if (store) did[which] = await contenders[which]?.(store, id);
    });
    await Promise.all(runs);
    return [id, did] as const;
  });
  return new Map(await Promise.all(played));
}

async function check(
  { race: { name, after }, rounds }: Heat,
  did: ReadonlyMap<string, Did>,
  stores: readonly RegistryStore[],
): Promise<void> {
  await stores[1]?.read(async (view) => {
    for (const { id } of rounds) {
      const what = did.get(id) ?? [];
      await after(view, id, what).catch((cause: unknown) => {
        throw new Error(`${name}, round ${id}: ${what.join(", ")}`, { cause });
      });
    }
  });
}

/** What the ledger has of each round. */
async function noted(ledger: LedgerStore): Promise<readonly string[]> {
  const events = await ledger.list({ kind: "registration" });
  return events.map(({ record, change }) => `${record} ${change}`).sort();
}

function sorted(done: ReadonlyMap<string, Did>): readonly string[] {
  const all = [...done].flatMap(([id, did]) => won(did).map((change) => `${id} ${change}`));
  return all.sort();
}

/** What those did that did not come too late. */
export function won(did: Did): readonly string[] {
  return did.filter((one) => one !== undefined);
}
