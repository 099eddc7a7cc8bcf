import { third } from "../build/chain.js";
import { type CheckSubject, type CheckTest, EXPIRES, refused, type Setup } from "./check-test.js";
import { A, asking, asking2, B, C } from "./third-party-parts.js";

const D = third("d");
const GUESS = { caveatKey: "guess" };
const LEVELS = Array.from({ length: 5 }, (_, at) => third(`level ${at + 1}`));

/** Defines a test of two wrong discharges. The discharge that comes first in the order of section 2 is reported. */
function first(comment: string, setup: Setup, denial: string): CheckTest {
  return refused(comment, ["Discharge", "DischargeGraph", "OrderOfSteps"], setup, denial);
}

export const thirdPartyOrder: CheckSubject = {
  subject: "which of two wrong discharges is reported",
  comment: "Section 2: caveats of one macaroon before caveats of its discharges, in their order",
  tests: [
    first(
      "the second caveat's is wrong, and the first one's needs one that is missing",
      asking2({ of: A, links: [C] }, { of: { ...B, ...GUESS } }),
      "discharge_invalid/2",
    ),
    first(
      "the second caveat's is wrong, and the first one's needs a wrong one, presented before it",
      asking2({ of: A, links: [C] }, { of: { ...C, ...GUESS } }, { of: { ...B, ...GUESS } }),
      "discharge_invalid/3",
    ),
    first(
      "the second caveat's is missing, and the first one's needs a wrong one",
      asking2({ of: A, links: [C] }, { of: { ...C, ...GUESS } }),
      "discharge_missing@3",
    ),
    first(
      "the second caveat's is missing, and the first one's needs itself",
      asking2({ of: A, links: [A] }),
      "discharge_missing@3",
    ),
    first(
      "the second caveat's is missing, and the first one's are nested five deep",
      {
        links: [EXPIRES, ...LEVELS.slice(0, 1), B],
        discharges: LEVELS.map((of, at) => ({ of, links: LEVELS.slice(at + 1, at + 2) })),
      },
      "discharge_missing@3",
    ),
    first(
      "both are wrong, presented the other way round",
      asking2({ of: { ...B, ...GUESS } }, { of: { ...A, ...GUESS } }),
      "discharge_invalid/2",
    ),
    first(
      "both need one that is missing, presented the other way round",
      asking2({ of: B, links: [D] }, { of: A, links: [C] }),
      "discharge_missing@1/2",
    ),
    first(
      "two of one discharge's caveats are missing",
      asking({ of: A, links: [B, C] }),
      "discharge_missing@1/1",
    ),
    first(
      "the second caveat's discharge is needed by the first one's too",
      asking2({ of: A, links: [B] }, { of: B }),
      "discharge_invalid@1/1",
    ),
    first("one is missing, and one is not needed", asking({ of: C }), "discharge_missing@2"),
    first("two are not needed", { discharges: [{ of: B }, { of: A }] }, "discharge_invalid/1"),
    first(
      "two have one identifier, and one is missing",
      asking({ of: C }, { of: B }, { of: C }),
      "discharge_invalid/3",
    ),
  ],
};
