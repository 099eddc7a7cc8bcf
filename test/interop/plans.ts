import fc from "fast-check";
import type { MacaroonFormat } from "../../src/macaroon/index.js";
import {
  addFirstPartyCaveat,
  addThirdPartyCaveat,
  bindDischarge,
  createMacaroon,
  createRootKey,
  type Macaroon,
} from "../../src/macaroon/index.js";
import { anyCharacter } from "../support/any-character.js";
import type { Bytes, Peer } from "./peers.js";

/** A plan for a macaroon that we or a peer make. It has a plan for the discharge of each third-party caveat. */
export interface Plan {
  readonly key: Uint8Array;
  readonly identifier: Bytes;
  readonly location: string;
  readonly caveats: readonly PlannedCaveat[];
}

type PlannedCaveat = { readonly first: Bytes } | { readonly third: Plan };

/** A macaroon made by a plan: the text of the root, and the texts of its bound discharges. */
export interface Presented {
  readonly root: string;
  readonly discharges: readonly string[];
}

/** The limits of a peer. Random plans stay within them. */
export interface Restrictions {
  /** True if identifiers and caveats can be arbitrary bytes, not only text. */
  readonly binary?: boolean;
  /** True if identifiers and locations must be ASCII. */
  readonly ascii?: boolean;
  /** True if no location may be empty. */
  readonly located?: boolean;
}

const SEED = 20261121;

/** Returns `count` plans, the same in every run. Identifiers within a plan are distinct. */
export function randomPlans(count: number, restrictions: Restrictions = {}): Plan[] {
  return fc.sample(planArbitrary(restrictions, 2), { seed: SEED, numRuns: count });
}

// No string begins with a byte order mark, since npm `macaroon` removes it from locations.
const text = fc.string({ unit: anyCharacter, minLength: 1, maxLength: 40 }).filter(hasNoBom);
const asciiText = fc.string({ unit: "binary-ascii", minLength: 1, maxLength: 40 });
const anyBytes = fc.uint8Array({ minLength: 1, maxLength: 80 });

function hasNoBom(value: string): boolean {
  return !value.startsWith("\uFEFF");
}

function planArbitrary(restrictions: Restrictions, nesting: number): fc.Arbitrary<Plan> {
  const name = restrictions.ascii === true ? asciiText : text;
  const identifier = restrictions.binary === true ? fc.oneof(name, anyBytes) : name;
  const predicate = restrictions.binary === true ? fc.oneof(text, anyBytes) : text;
  const first = predicate.map((value) => ({ first: value }));
  const third = (): fc.Arbitrary<PlannedCaveat> =>
    planArbitrary(restrictions, nesting - 1).map((plan) => ({ third: plan }));
  const caveat: fc.Arbitrary<PlannedCaveat> =
    nesting === 0
      ? first
      : fc.oneof({ weight: 3, arbitrary: first }, { weight: 1, arbitrary: third() });
  return fc
    .record({
      key: fc.uint8Array({ minLength: 1, maxLength: 100 }),
      identifier,
      location: restrictions.located === true ? name : fc.oneof(fc.constant(""), name),
      caveats: fc.array(caveat, { maxLength: 6 }),
    })
    .filter((plan) => {
      const names = identifiers(plan);
      return new Set(names).size === names.length;
    });
}

function identifiers(plan: Plan): string[] {
  const own = Buffer.from(plan.identifier).toString("hex");
  return [own, ...thirdParties(plan).flatMap(identifiers)];
}

function thirdParties({ caveats }: Plan): Plan[] {
  return caveats.flatMap((caveat) => ("third" in caveat ? [caveat.third] : []));
}

/** Returns the first-party caveats of a plan and of its discharges. */
export function predicates({ caveats }: Plan): Bytes[] {
  return caveats.flatMap((one) => ("first" in one ? [one.first] : predicates(one.third)));
}

/** Makes the macaroons of a plan with this project. */
export function makeHere(plan: Plan): { root: Macaroon; discharges: Macaroon[] } {
  const root = oneHere(plan);
  const all = (inner: Plan): Macaroon[] =>
    thirdParties(inner).flatMap((third) => [bindDischarge(root, oneHere(third)), ...all(third)]);
  return { root, discharges: all(plan) };
}

function oneHere({ key, identifier, location, caveats }: Plan): Macaroon {
  let macaroon = createMacaroon(createRootKey(key), { identifier, location });
  for (const caveat of caveats) {
    macaroon =
      "first" in caveat
        ? addFirstPartyCaveat(macaroon, caveat.first)
        : addThirdPartyCaveat(macaroon, caveat.third);
  }
  return macaroon;
}

/** Makes the macaroons of a plan with a peer alone: every macaroon, caveat and binding is the peer's. */
export async function makeThere(
  peer: Peer,
  plan: Plan,
  format: MacaroonFormat,
): Promise<Presented> {
  const root = await oneThere(peer, plan, format);
  const all = async (inner: Plan): Promise<string[]> => {
    const texts: string[] = [];
    for (const third of thirdParties(inner)) {
      texts.push(await peer.bind(root, await oneThere(peer, third, format)), ...(await all(third)));
    }
    return texts;
  };
  return { root, discharges: await all(plan) };
}

async function oneThere(peer: Peer, plan: Plan, format: MacaroonFormat): Promise<string> {
  const { key, identifier, location, caveats } = plan;
  let macaroon = await peer.create({ key, identifier, location, format });
  for (const caveat of caveats) {
    macaroon =
      "first" in caveat
        ? await peer.append(macaroon, caveat.first)
        : await peer.thirdParty(macaroon, caveat.third);
  }
  return macaroon;
}
