import { expect, test } from "vitest";
import type { StoreDatabase } from "../../src/stores/database.js";
import { databaseAt } from "../stores/parties/support.js";
import { onBothDatabases } from "./databases.js";
import { sized } from "./size.js";

/**
 * Changes the records through one side. Returns the change, or `undefined` if the contender came too late to make it.
 */
type Contender<Side, World> = (side: Side, world: World) => Promise<string | undefined>;

/** The changes of the contenders, in the order of the contenders. */
export type Did = readonly (string | undefined)[];

/** Contenders that change the same records concurrently, alternating between the two sides. */
export interface Race<Side, World> {
  readonly name: string;
  /** Makes the initial records. */
  readonly before: (side: Side, round: string) => Promise<World>;
  readonly contenders: readonly [
    Contender<Side, World>,
    Contender<Side, World>,
    ...Contender<Side, World>[],
  ];
  /** Checks the final records. */
  readonly after: (side: Side, world: World, did: Did) => Promise<void>;
}

/**
 * Three numbers: the rounds of each race on each database, the concurrent rounds of a race, and the concurrent heats.
 */
const ROUNDS = sized(20, 1, 50);
const AT_ONCE = 10;
const HEATS_AT_ONCE = 5;
const LONGEST = 600_000;

/** The rounds of a race that run concurrently. */
interface Heat<Side, World> {
  readonly race: Race<Side, World>;
  readonly rounds: readonly { readonly turn: number; readonly id: string }[];
}

/**
 * Runs races on both databases.
 *
 * @param open - Opens one of the two sides of a race, each with its own connection to the same database.
 * @param end - Checks the final state, given the changes of all rounds.
 */
export function runRaces<Side, World>(
  races: readonly Race<Side, World>[],
  open: (database: StoreDatabase) => Side,
  end: (side: Side, done: readonly (readonly [round: string, did: Did])[]) => Promise<void>,
): void {
  onBothDatabases((place) => {
    const name = `each of ${races.length} races has one outcome in ${ROUNDS} rounds`;
    test(name, { timeout: LONGEST }, async () => {
      const where = await place();
      const sides = [open(await databaseAt(where)), open(await databaseAt(where))] as const;
      const heats = heatsOf(races);
      const done: (readonly [string, Did])[] = [];
      // Each player takes the next heat until no heat is left.
      const play = async (): Promise<void> => {
        for (let heat = heats.pop(); heat !== undefined; heat = heats.pop()) {
          const { race, rounds } = heat;
          const played = rounds.map(async ({ turn, id }) => {
            done.push([id, await runRound(race, id, turn, sides)]);
          });
          await Promise.all(played);
        }
      };
      await Promise.all(Array.from({ length: HEATS_AT_ONCE }, play));
      expect(done).toHaveLength(races.length * ROUNDS);
      await end(sides[0], done);
    });
  });
}

function heatsOf<Side, World>(races: readonly Race<Side, World>[]): Heat<Side, World>[] {
  return races.flatMap((race, number) => {
    const rounds = Array.from({ length: ROUNDS }, (_, turn) => ({ turn, id: `${number}.${turn}` }));
    const starts = rounds.map((_, at) => at).filter((at) => at % AT_ONCE === 0);
    return starts.map((at) => ({ race, rounds: rounds.slice(at, at + AT_ONCE) }));
  });
}

async function runRound<Side, World>(
  { name, before, contenders, after }: Race<Side, World>,
  id: string,
  turn: number,
  sides: readonly [Side, Side],
): Promise<Did> {
  const world = await before(sides[0], id);
  const did: (string | undefined)[] = [];
  // Each contender starts first equally often, and on either side.
  const order = contenders.map((_, at) => (at + turn) % contenders.length);
  const runs = order.map(async (which, at) => {
    const isOther = (at + Math.floor(turn / order.length)) % 2 === 1;
    did[which] = await contenders[which]?.(isOther ? sides[1] : sides[0], world);
  });
  await Promise.all(runs);
  await after(sides[1], world, did).catch((cause: unknown) => {
    throw new Error(`${name}, round ${id}: ${did.join(", ")}`, { cause });
  });
  return did;
}

/** Returns the changes of the contenders that did not come too late. */
export function won(did: Did): readonly string[] {
  return did.filter((one) => one !== undefined);
}

/** Checks that exactly one contender made a change, and returns it. */
export function onlyOne(did: Did): string {
  expect(won(did)).toHaveLength(1);
  return won(did)[0] ?? "";
}
