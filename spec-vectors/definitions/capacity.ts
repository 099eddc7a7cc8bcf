import { base64url, sha256 } from "../build/bytes.js";
import { chain, third } from "../build/chain.js";
import { allowed, type CheckSubject, ID, KEY_A, refused } from "./check-test.js";
import { filled } from "./limit-parts.js";

const ASK = third("ask");

/** Returns `count` handles of 25 characters, in order. */
function handles(count: number): string[] {
  const all = Array.from(
    { length: count },
    (_, at) => `rh_${base64url(sha256(`handle ${at}`)).slice(0, 22)}`,
  );
  return all.sort();
}

const ALL = handles(200);
const HALF = ALL.filter((_, at) => at % 2 === 0);
const [GIVEN = ""] = HALF;
const TAKEN = ALL[1] ?? "";

function naming(members: readonly string[], rest: string): string {
  return `{${rest}"resourceHandles":${JSON.stringify(members)}}`;
}

const ISSUED = naming(ALL, '"expires":"2026-01-01T01:00:00Z","operations":["list","retrieve"],');
const ATTENUATED = naming(HALF, '"nonce":"AAAAAAAAAAAAAAAA","operations":["retrieve"],');
const LINKS = [ISSUED, ATTENUATED];

/** Returns the hops of a token that has exactly this many bytes. */
function sized(bytes: number): string[] {
  const links = (filler: string): string[] => [...LINKS, `{"purpose":"${filler}"}`];
  const [built] = filled(bytes, (filler) => [chain(KEY_A.secret, ID, links(filler))]);
  return built?.caveats.map(({ cid }) => Buffer.from(cid).toString()) ?? [];
}

export const capacity: CheckSubject = {
  subject: "how much a capability holds",
  comment: "Section 4: 200 handles of 25 characters, attenuated once to 100 of them",
  tests: [
    allowed("200 handles, attenuated to 100 of them", "Limit", {
      links: LINKS,
      ask: { resourceHandles: [GIVEN] },
    }),
    allowed("all 100 at once", "Limit", { links: LINKS, ask: { resourceHandles: HALF } }),
    allowed("all 200 at once, before it is attenuated", "Limit", {
      links: [ISSUED],
      ask: { resourceHandles: ALL },
    }),
    refused(
      "one that was taken away",
      ["Limit", "SetMembership"],
      { links: LINKS, ask: { resourceHandles: [TAKEN] } },
      "resource_denied@2",
    ),
    refused(
      "all 200, of which 100 were taken away",
      ["Limit", "SetMembership"],
      { links: LINKS, ask: { resourceHandles: ALL } },
      "resource_denied@2",
    ),
    refused(
      "one that never was among them",
      ["Limit", "SetMembership", "AllReported"],
      { links: LINKS, ask: { resourceHandles: ["rh_AAAAAAAAAAAAAAAAAAAAAA"] } },
      "resource_denied@1",
      "resource_denied@2",
    ),
    allowed("with a discharge beside it", ["Limit", "Discharge"], {
      links: [...LINKS, ASK],
      discharges: [{ of: ASK, links: ['{"expires":"2026-01-01T00:45:00Z"}'] }],
      ask: { resourceHandles: [GIVEN] },
    }),
    allowed("256 handles of 25 characters", "Limit", {
      links: [naming(handles(256), '"expires":"2026-01-01T01:00:00Z",')],
      ask: { resourceHandles: [GIVEN] },
    }),
    refused(
      "257 handles of 25 characters",
      "Limit",
      {
        links: [naming(handles(257), '"expires":"2026-01-01T01:00:00Z",')],
        ask: { resourceHandles: [GIVEN] },
      },
      "token_too_large",
    ),
    allowed("10,240 bytes in all", "Limit", {
      links: sized(10_240),
      ask: { resourceHandles: [GIVEN] },
    }),
    refused(
      "10,241 bytes in all",
      "Limit",
      { links: sized(10_241), ask: { resourceHandles: [GIVEN] } },
      "token_too_large",
    ),
    refused(
      "200 handles twice over, which no longer fit",
      "Limit",
      { links: [ISSUED, naming(ALL, "")], ask: { resourceHandles: [GIVEN] } },
      "token_too_large",
    ),
  ],
};
