import { bytes, flip, hash2 } from "../build/bytes.js";
import { append, bind, chain, derive, dischargeOf, tampered, third } from "../build/chain.js";
import {
  A,
  B,
  BOUND,
  BROKEN,
  boundToParent,
  C,
  dropped,
  GARBLED,
  graph,
  ladder,
  nested,
  ONE,
  OTHER_ROOT,
  ROOT,
  STRANGE,
  tangled,
  unbound,
} from "./discharge-parts.js";
import { as, invalid, KEY, type MacaroonSubject } from "./macaroon-test.js";

export const dischargeGraphs: MacaroonSubject = {
  subject: "discharges missing, unused and tangled",
  comment:
    "Section 2: each third-party caveat has its own discharge, and each discharge its caveat",
  tests: [
    invalid("no discharge", "Discharge", as("v2json", ROOT), "discharge_missing"),
    invalid("no discharge, v1", "Discharge", as("v1", ROOT), "discharge_missing"),
    invalid(
      "no discharge for the second caveat",
      "Discharge",
      as("v2json", ...graph([A, B], [dischargeOf(A)])),
      "discharge_missing",
    ),
    invalid(
      "no discharge for a discharge's caveat",
      "Discharge",
      as("v2json", ...graph([A], [dischargeOf(A, [B])])),
      "discharge_missing",
    ),
    invalid(
      "a discharge of the same name in upper case",
      "Discharge",
      as("v2json", ...graph([third("ask")], [dischargeOf(third("ASK"))])),
      "discharge_missing",
    ),
    unbound("a discharge that is not bound", ONE),
    unbound("a discharge bound to another root", bind(OTHER_ROOT, ONE)),
    unbound(
      "a discharge bound to the root as it was before its last caveat",
      bind(chain(KEY, "id"), ONE),
    ),
    unbound("a discharge bound twice", bind(ROOT, BOUND)),
    unbound("a discharge bound in the other order", {
      ...ONE,
      signature: hash2(new Uint8Array(32), ONE.signature, ROOT.signature),
    }),
    unbound("a discharge bound under the root key", {
      ...ONE,
      signature: hash2(derive(KEY), ROOT.signature, ONE.signature),
    }),
    unbound("the root's signature as the discharge's", { ...ONE, signature: ROOT.signature }),
    unbound(
      "a discharge made with the wrong caveat key",
      bind(ROOT, dischargeOf({ ...A, caveatKey: "guess" })),
    ),
    unbound(
      "a discharge made with the root key",
      bind(ROOT, dischargeOf({ ...A, caveatKey: KEY })),
    ),
    unbound("a caveat of a discharge dropped", dropped()),
    unbound(
      "a caveat added to a bound discharge",
      tampered(BOUND, { caveats: [{ cid: bytes("unmet") }] }),
    ),
    unbound("a holder's caveat on a bound discharge", append(BOUND, "x")),
    unbound("one bit of a discharge's signature flipped", {
      ...BOUND,
      signature: flip(BOUND.signature, 31),
    }),
    invalid(
      "a nested discharge bound to its discharge instead of the root",
      ["Discharge", "Binding"],
      as("v2json", ...boundToParent()),
      "discharge_mismatch",
    ),
    invalid(
      "bound, then the root narrowed by a caveat",
      ["Discharge", "Binding"],
      as("v2json", append(ROOT, "x"), BOUND),
      "discharge_mismatch",
    ),
    invalid(
      "a caveat key that opens to another key",
      ["Discharge", "Binding"],
      as("v2json", GARBLED, bind(GARBLED, dischargeOf(A))),
      "discharge_mismatch",
    ),
    invalid(
      "a caveat key sealed under another tag",
      "Discharge",
      as("v2json", STRANGE, bind(STRANGE, dischargeOf(A))),
      "caveat_key_sealed",
    ),
    invalid(
      "a sealed caveat key with one bit changed",
      "Discharge",
      as("v2json", BROKEN, bind(BROKEN, dischargeOf(A))),
      "caveat_key_sealed",
    ),
    invalid(
      "a discharge that nothing needs",
      ["Discharge", "PymacaroonsBug"],
      as("v2json", ...graph(["x"], [dischargeOf(A)])),
      "discharge_unused",
    ),
    invalid(
      "one discharge too many",
      ["Discharge", "PymacaroonsBug"],
      as("v2json", ...graph([A], [dischargeOf(A), dischargeOf(B)])),
      "discharge_unused",
    ),
    invalid(
      "the root presented again as a discharge",
      ["Discharge", "PymacaroonsBug"],
      as("v2json", chain(KEY, "id"), chain(KEY, "id")),
      "discharge_unused",
    ),
    invalid(
      "the same discharge twice",
      ["Discharge", "PymacaroonsBug"],
      as("v2json", ROOT, BOUND, BOUND),
      "discharge_duplicate",
    ),
    invalid(
      "two discharges with one identifier, of which the first is wrong",
      "Discharge",
      as("v2json", ROOT, bind(ROOT, dischargeOf({ ...A, caveatKey: "guess" })), BOUND),
      "discharge_duplicate",
    ),
    tangled(
      "one discharge for two caveats of the root",
      graph([A, A], [dischargeOf(A)]),
      "discharge_reused",
    ),
    tangled(
      "one discharge for caveats of the root and of a discharge",
      graph([A, B], [dischargeOf(A), dischargeOf(B, [A])]),
      "discharge_reused",
    ),
    tangled("two references a level, eight levels", ladder(8), "discharge_reused", [
      "LibmacaroonsBug",
    ]),
    tangled("a discharge that needs itself", graph([A], [dischargeOf(A, [A])]), "discharge_cyclic"),
    tangled(
      "two discharges that need each other",
      graph([A], [dischargeOf(A, [B]), dischargeOf(B, [A])]),
      "discharge_cyclic",
    ),
    tangled(
      "a cycle of three",
      graph([A], [dischargeOf(A, [B]), dischargeOf(B, [C]), dischargeOf(C, [A])]),
      "discharge_cyclic",
    ),
    invalid(
      "discharges nested five deep",
      ["Discharge", "Limit"],
      as("v2json", ...nested(5)),
      "discharge_too_deep",
    ),
    invalid(
      "discharges nested eight deep",
      ["Discharge", "Limit"],
      as("v2json", ...nested(8)),
      "discharge_too_deep",
    ),
  ],
};
