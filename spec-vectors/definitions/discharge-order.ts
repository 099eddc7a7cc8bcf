import { type Built, dischargeOf, third } from "../build/chain.js";
import { A, B, C, graph } from "./discharge-parts.js";
import { as, invalid, type MacaroonSubject, type MacaroonTest } from "./macaroon-test.js";

// In each test, two discharges have different faults. The code shows which discharge was checked first.

const D = third("d");
const LEVELS = Array.from({ length: 5 }, (_, at) => third(`level ${at + 1}`));
const WRONG_A = dischargeOf({ ...A, caveatKey: "guess" });
const WRONG_C = dischargeOf({ ...C, caveatKey: "guess" });
const WRONG_B = dischargeOf({ ...B, caveatKey: "guess" });

function first(comment: string, chains: readonly Built[], code: string): MacaroonTest {
  return invalid(comment, ["Discharge", "DischargeGraph"], as("v2json", ...chains), code);
}

export const dischargeOrder: MacaroonSubject = {
  subject: "which of two wrong discharges is reported",
  comment: "Section 2: caveats of one macaroon before caveats of its discharges, in their order",
  tests: [
    first(
      "the second caveat's is wrong, and the first one's needs one that is missing",
      graph([A, B], [dischargeOf(A, [C]), WRONG_B]),
      "discharge_mismatch",
    ),
    first(
      "the second caveat's is missing, and the first one's needs a wrong one",
      graph([A, B], [dischargeOf(A, [C]), WRONG_C]),
      "discharge_missing",
    ),
    first(
      "the second caveat's is missing, and the first one's needs itself",
      graph([A, B], [dischargeOf(A, [A])]),
      "discharge_missing",
    ),
    first(
      "the second caveat's is missing, and the first one's are nested five deep",
      graph(
        [...LEVELS.slice(0, 1), B],
        LEVELS.map((ask, at) => dischargeOf(ask, LEVELS.slice(at + 1, at + 2))),
      ),
      "discharge_missing",
    ),
    first(
      "the first caveat's is missing, and the second one's, presented first, is wrong",
      graph([A, B], [WRONG_B]),
      "discharge_missing",
    ),
    first(
      "the first caveat's is wrong, and the second one's is missing",
      graph([A, B], [WRONG_A]),
      "discharge_mismatch",
    ),
    first(
      "the first one's needs a wrong one, and the second one's, presented first, a missing one",
      graph([A, B], [dischargeOf(B, [D]), dischargeOf(A, [C]), WRONG_C]),
      "discharge_mismatch",
    ),
    first(
      "one is missing, and one is not needed",
      graph([A], [dischargeOf(B)]),
      "discharge_missing",
    ),
    first(
      "one is wrong, and one is not needed",
      graph([A], [dischargeOf(B), WRONG_A]),
      "discharge_mismatch",
    ),
    first(
      "one is missing, and two have one identifier",
      graph([A], [dischargeOf(B), dischargeOf(B)]),
      "discharge_duplicate",
    ),
  ],
};
