import { bind, dischargeOf, third } from "../build/chain.js";
import { A, appended, B, BOUND, C, good, graph, nested, RAW, ROOT } from "./discharge-parts.js";
import type { MacaroonSubject } from "./macaroon-test.js";

export const discharges: MacaroonSubject = {
  subject: "discharges",
  comment: "Section 2: third-party caveats, their discharges, binding and the graphs they can form",
  tests: [
    good("one discharge", [ROOT, BOUND]),
    good("a discharge with first-party caveats", graph([A], [dischargeOf(A, ["x", "y"])])),
    good(
      "two discharges, in the order of their caveats",
      graph([A, B], [dischargeOf(A), dischargeOf(B)]),
    ),
    good("two discharges, in the other order", graph([A, B], [dischargeOf(B), dischargeOf(A)])),
    good(
      "third-party caveats among first-party ones",
      graph(["x", A, "y", B, "z"], [dischargeOf(A), dischargeOf(B)]),
    ),
    good("a discharge that needs a discharge", graph([A], [dischargeOf(A, [B]), dischargeOf(B)])),
    good("a nested discharge presented first", graph([A], [dischargeOf(B), dischargeOf(A, [B])])),
    good("discharges nested four deep", nested(4)),
    good(
      "two of two: each discharge needs another",
      graph(
        [A, B],
        [
          dischargeOf(A, [C]),
          dischargeOf(B, [third("d")]),
          dischargeOf(C),
          dischargeOf(third("d")),
        ],
      ),
    ),
    good("the caveat key used as it was sealed", [RAW, bind(RAW, dischargeOf(A))]),
    good(
      "an empty identifier of a third-party caveat",
      graph([third("")], [dischargeOf(third(""))]),
    ),
    good(
      "a caveat's identifier that is not UTF-8",
      graph(
        [{ cid: Uint8Array.of(0xff), caveatKey: "k" }],
        [dischargeOf({ cid: Uint8Array.of(0xff), caveatKey: "k" })],
      ),
    ),
    good(
      "a discharge whose identifier is the root's",
      graph([{ cid: "id", caveatKey: "k" }], [dischargeOf({ cid: "id", caveatKey: "k" })]),
    ),
    good("a caveat appended behind a third-party one, and bound afterwards", appended()),
  ],
};
