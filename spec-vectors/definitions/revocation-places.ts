import { hmac } from "../build/bytes.js";
import { type Built, chain, derive, revocationId, type Third, third } from "../build/chain.js";
import {
  type CheckSubject,
  type CheckTest,
  type Entry,
  EXPIRES,
  ID,
  KEY_A,
  refused,
  type Setup,
} from "./check-test.js";
import { CAPABILITY, link, RETRIEVE, TWIN_1 } from "./revocation-parts.js";

/** A caveat whose discharge has the same first tag as the token, because its key and identifier are the same. */
const COPY: Third = { cid: ID, caveatKey: KEY_A.secret };
const ONE: Third = third("one");
/** A caveat whose discharge has the same first tag as link 1 of the discharge of `one`. */
const SAME: Third = {
  cid: RETRIEVE,
  caveatKey: "",
  firstKey: hmac(derive(ONE.caveatKey), ONE.cid),
};

/** A token and its discharge. Links 0 and 1 of both have the same tags. */
const COPIED: Setup = {
  links: [EXPIRES, COPY],
  discharges: [{ of: COPY, links: [EXPIRES, RETRIEVE] }],
};
/** Two discharges. Link 1 of the first has the same tag as link 0 of the second. */
const SHARED: Setup = {
  links: [EXPIRES, ONE, SAME],
  discharges: [
    { of: ONE, links: [RETRIEVE, TWIN_1] },
    { of: SAME, links: [TWIN_1] },
  ],
};

function once(
  comment: string,
  setup: Setup,
  entries: (token: Built, discharges: readonly Built[]) => readonly Entry[],
  ...denials: readonly [string, ...string[]]
): CheckTest {
  const revocations: Setup["revocations"] = (token, discharges) => ({
    entries: entries(token, discharges),
  });
  const more = denials.length > 1 ? (["AllReported"] as const) : [];
  return refused(
    comment,
    ["Revocation", "Discharge", ...more],
    { ...setup, revocations },
    ...denials,
  );
}

export const revocationPlaces: CheckSubject = {
  subject: "one revoked tag in several places",
  comment: "Section 8: one entry gives one denial, at the first place that has its tag",
  tests: [
    once(
      "link 0 of the token and of its discharge",
      COPIED,
      (token) => [link(token, 0)],
      "revoked@0",
    ),
    once(
      "link 1 of the token and of its discharge",
      COPIED,
      (token) => [link(token, 1)],
      "revoked@1",
    ),
    once("link 2 of the discharge alone", COPIED, (_, [copy]) => [link(copy, 2)], "revoked@2/1"),
    once(
      "both links that the two have in common",
      COPIED,
      (token) => [link(token, 1), link(token, 0)],
      "revoked@0",
      "revoked@1",
    ),
    once(
      "a link of both, and the capability",
      COPIED,
      (token) => [{ kind: "capability", id: CAPABILITY }, link(token, 1)],
      "revoked@1",
      "revoked",
    ),
    once(
      "link 1 of the first discharge is link 0 of the second",
      SHARED,
      (_, [one]) => [link(one, 1)],
      "revoked@1/1",
    ),
    once(
      "link 2 of the first discharge is link 1 of the second",
      SHARED,
      (_, [, same]) => [link(same, 1)],
      "revoked@2/1",
    ),
    once(
      "the first discharge as presented, not as needed",
      { ...SHARED, discharges: [...(SHARED.discharges ?? [])].reverse() },
      (_, [same]) => [link(same, 0)],
      "revoked@0/1",
    ),
    once(
      "link 0 of the first discharge alone",
      SHARED,
      (_, [one]) => [link(one, 0)],
      "revoked@0/1",
    ),
    once(
      "two entries for one link",
      COPIED,
      () => {
        const id = revocationId(chain(KEY_A.secret, ID).signature);
        return [
          { kind: "link", id },
          { kind: "link", id, until: "2026-01-02T00:00:00Z" },
        ];
      },
      "revoked@0",
    ),
  ],
};
