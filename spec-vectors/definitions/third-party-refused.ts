import { bind, chain, dischargeOf, tampered } from "../build/chain.js";
import { type CheckSubject, EXPIRES, KEY_A, refused } from "./check-test.js";
import {
  A,
  asking,
  asking2,
  B,
  before,
  C,
  MISMATCH,
  nested,
  RETRIEVE,
  SEARCH,
  unsealable,
} from "./third-party-parts.js";

export const thirdPartyRefused: CheckSubject = {
  subject: "third-party caveats not discharged",
  comment: "Sections 2 and 7: where a refused discharge is reported to be",
  tests: [
    refused("no discharge", "Discharge", asking(), "discharge_missing@2"),
    refused(
      "no discharge for the second caveat",
      "Discharge",
      asking2({ of: A }),
      "discharge_missing@3",
    ),
    refused(
      "no discharge for the first caveat",
      "Discharge",
      asking2({ of: B }),
      "discharge_missing@2",
    ),
    refused(
      "no discharge for a discharge's caveat",
      "Discharge",
      asking({ of: A, links: [RETRIEVE, B] }),
      "discharge_missing@2/1",
    ),
    refused(
      "one discharge for two caveats",
      ["Discharge", "DischargeGraph"],
      { links: [EXPIRES, A, A], discharges: [{ of: A }] },
      "discharge_invalid@3",
    ),
    refused(
      "one discharge for two caveats, the second in a discharge",
      ["Discharge", "DischargeGraph"],
      asking2({ of: A }, { of: B, links: [A] }),
      "discharge_invalid@1/2",
    ),
    refused(
      "a discharge that needs itself",
      ["Discharge", "DischargeGraph"],
      asking({ of: A, links: [RETRIEVE, A] }),
      "discharge_invalid@2/1",
    ),
    refused(
      "two discharges that need each other",
      ["Discharge", "DischargeGraph"],
      asking({ of: A, links: [B] }, { of: B, links: [A] }),
      "discharge_invalid@1/2",
    ),
    refused(
      "discharges nested five deep",
      ["Discharge", "DischargeGraph", "Limit"],
      nested(5),
      "discharge_invalid@1/4",
    ),
    refused(
      "a caveat key that cannot be unsealed",
      "Discharge",
      { ...asking({ of: A }), alter: unsealable },
      "discharge_invalid@2",
    ),
    refused(
      "a discharge that is not bound",
      ["Discharge", "Binding"],
      asking({ of: A, bound: (_, one) => one }),
      ...MISMATCH,
    ),
    refused(
      "a discharge bound to another token",
      ["Discharge", "Binding"],
      asking({ of: A, bound: (_, one) => bind(chain(KEY_A.secret, "another"), one) }),
      ...MISMATCH,
    ),
    refused(
      "bound, then the token narrowed by a hop",
      ["Discharge", "Binding"],
      asking({ of: A, bound: (token, one) => bind(before(token), one) }),
      ...MISMATCH,
    ),
    refused(
      "a discharge made with another key",
      ["Discharge", "Binding", "Forged"],
      asking({ of: { ...A, caveatKey: "guess" } }),
      ...MISMATCH,
    ),
    refused(
      "a discharge whose hop was dropped",
      ["Discharge", "Binding", "Forged"],
      asking({
        of: A,
        links: [SEARCH],
        bound: (token, one) => tampered(bind(token, one), { caveats: [] }),
      }),
      ...MISMATCH,
    ),
    refused(
      "a nested discharge bound to its discharge",
      ["Discharge", "Binding"],
      asking({ of: A, links: [B] }, { of: B, bound: (_, one) => bind(dischargeOf(A, [B]), one) }),
      "discharge_invalid/2",
    ),
    refused(
      "the same discharge twice",
      "Discharge",
      asking({ of: A }, { of: A }),
      "discharge_invalid/2",
    ),
    refused(
      "a discharge that nothing needs",
      "Discharge",
      { discharges: [{ of: A }] },
      "discharge_invalid/1",
    ),
    refused(
      "the second discharge is not needed",
      "Discharge",
      asking({ of: A }, { of: C }),
      "discharge_invalid/2",
    ),
  ],
};
