import { third } from "../build/chain.js";
import { allowed, type CheckSubject, EXPIRES, refused } from "./check-test.js";
import { A, asking, asking2, B, nested, PAST, RETRIEVE, SEARCH } from "./third-party-parts.js";

export const thirdParty: CheckSubject = {
  subject: "third-party caveats",
  comment: "Sections 2 and 7: discharges of capabilities, and the hops in them",
  tests: [
    allowed("one discharge without hops", "Discharge", asking({ of: A })),
    refused(
      "one discharge, v1",
      "WireForm",
      { ...asking({ of: A }), form: "v1" },
      "token_malformed",
    ),
    refused(
      "one discharge, v2 JSON",
      "WireForm",
      { ...asking({ of: A }), form: "v2json" },
      "token_malformed",
    ),
    refused(
      "one discharge, v1 JSON",
      "WireForm",
      { ...asking({ of: A }), form: "v1json" },
      "token_malformed",
    ),
    allowed(
      "a discharge whose hops allow it",
      "Discharge",
      asking({ of: A, links: [RETRIEVE, EXPIRES] }),
    ),
    allowed("two discharges", "Discharge", asking2({ of: A }, { of: B })),
    allowed("two discharges in the other order", "Discharge", asking2({ of: B }, { of: A })),
    allowed(
      "a discharge that needs a discharge",
      "Discharge",
      asking({ of: A, links: [B] }, { of: B }),
    ),
    allowed("discharges nested four deep", ["Discharge", "Limit"], nested(4)),
    allowed("a caveat's identifier that looks like a hop", "Discharge", {
      links: [EXPIRES, third(SEARCH)],
      discharges: [{ of: third(SEARCH) }],
    }),
    allowed(
      "a discharge's identifier that looks like a capability's is not read as one",
      "Discharge",
      { links: [EXPIRES, third('{"v":2}')], discharges: [{ of: third('{"v":2}') }] },
    ),
    refused(
      "a discharge's hop that is not met",
      "Discharge",
      asking({ of: A, links: [SEARCH] }),
      "operation_denied@1/1",
    ),
    refused(
      "the second hop of the second discharge",
      "Discharge",
      asking2({ of: A }, { of: B, links: [RETRIEVE, SEARCH] }),
      "operation_denied@2/2",
    ),
    refused(
      "discharges are numbered as presented, not as needed",
      "Discharge",
      asking2({ of: B, links: [SEARCH] }, { of: A }),
      "operation_denied@1/1",
    ),
    refused(
      "a nested discharge's hop",
      "Discharge",
      asking({ of: A, links: [RETRIEVE, B] }, { of: B, links: [SEARCH] }),
      "operation_denied@1/2",
    ),
    refused(
      "a discharge that has expired",
      ["Discharge", "TimeEdge"],
      asking({ of: A, links: [PAST] }),
      "expired@1/1",
    ),
    refused(
      "a discharge for another agent",
      "Discharge",
      { ...asking({ of: A, links: ['{"invokers":["agent:a"]}'] }), ask: { invoker: "agent:b" } },
      "invoker_denied@1/1",
    ),
    refused(
      "a discharge with a caveat that is no hop",
      ["Discharge", "UnknownRestriction"],
      asking({ of: A, links: ["time < 2030"] }),
      "caveat_unknown@1/1",
    ),
    refused(
      "a discharge with a hop that is not canonical",
      ["Discharge", "CanonicalForm"],
      asking({ of: A, links: ['{"purpose": "x"}'] }),
      "caveat_malformed@1/1",
    ),
    refused(
      "only the discharge says when it expires",
      ["Discharge", "Expiry"],
      { links: [RETRIEVE, A], discharges: [{ of: A, links: [EXPIRES] }] },
      "expiry_missing",
    ),
    refused(
      "hops of the token and of two discharges",
      ["Discharge", "AllReported"],
      {
        ...asking2({ of: A, links: [SEARCH] }, { of: B, links: [PAST] }),
        ask: { operation: "delete" },
      },
      "operation_denied@1/1",
      "expired@1/2",
    ),
  ],
};
