import type { CacheBounds } from "../../src/capability/verification-cache.js";
import type { Invocation } from "../../src/caveats/invocation.js";
import { formatTime } from "../../src/caveats/time.js";
import { createIssuer, type Issuer } from "../../src/issuer/issuer.js";
import { createKeyring, importKeyring, type Keyring } from "../../src/issuer/keyring.js";
import {
  addThirdPartyCaveat,
  bindDischarge,
  createMacaroon,
  createRootKey,
  type Macaroon,
  macaroonToText,
  parseMacaroon,
  writeMacaroons,
} from "../../src/macaroon/index.js";
import type { RevocationEntry } from "../../src/revocation/entry.js";
import { createRevocationList, type RevocationList } from "../../src/revocation/list.js";
import { append, NOW, utf8 } from "./support.js";

// A small, enumerated world of tokens, calls and state, so that the answer without a cache can be computed once for
// each state.

const SERVICE = "mail.example";
const clock = (): number => NOW;

const first = createKeyring({ clock });
const second = first.rotate();
const [firstKid] = first.list().map(({ kid }) => kid);
if (firstKid === undefined) throw new Error("a keyring has a key");
const namesake = {
  keys: second
    .exportJwkSet()
    .keys.map((jwk) =>
      jwk.kid === firstKid ? { ...jwk, k: createKeyring().exportJwkSet().keys[0]?.k } : jwk,
    ),
};

/**
 * Keyrings to switch between. Among them are an equal keyring in another object, a keyring without a retired key, and
 * a keyring with another secret under the same key id.
 */
export const RINGS: readonly Keyring[] = [
  second,
  first,
  importKeyring(second.exportJwkSet()),
  second.retire(firstKid),
  importKeyring(namesake),
];

/** Seconds after {@link NOW}: before and after each expiry of the tokens. */
export const MOMENTS: readonly number[] = [0, 30, 61, 901];

const issuing = (name: string, keys: Keyring): Issuer =>
  createIssuer({ name, keys, revocations: createRevocationList(), clock });

const open = { grant: "g", operations: ["get", "put"] };
const ours = issuing("files", second).mint({ ...open, principal: "alice" });
const older = issuing("files", first).mint({ ...open, expires: formatTime(NOW + 60_000) });
const foreign = issuing("elsewhere", second).mint(open);
const served = issuing("files", second).mint({ ...open, service: SERVICE, audience: [SERVICE] });

const narrowed = append(ours.token, '{"operations":["get"]}');
const brief = append(narrowed, `{"expires":"${formatTime(NOW + 30_000)}"}`);
const sibling = append(narrowed, '{"purpose":"another"}');
const grandchild = append(append(older.token, '{"operations":["get"]}'), '{"purpose":"deep"}');
const unreadable = append(narrowed, '{"x":1}');
const accented = append(ours.token, '{"purpose":"café"}');

function discharged(text: string): string {
  const key = utf8("a key of the third party");
  const root = addThirdPartyCaveat(parseMacaroon(text), { key, identifier: "who" });
  const discharge = createMacaroon(createRootKey(key), { identifier: "who" });
  return writeMacaroons([root, bindDischarge(root, discharge)], "v2");
}

/** Returns the caveats of one token with the signature of another. */
function forged(content: string, signature: string): string {
  const json = JSON.parse(writeMacaroons([parseMacaroon(content)], "v2json"));
  const other = JSON.parse(writeMacaroons([parseMacaroon(signature)], "v2json"));
  return JSON.stringify({ ...json, s64: other.s64 });
}

function reformed(text: string): string[] {
  const macaroon: Macaroon = parseMacaroon(text);
  return [writeMacaroons([macaroon], "v1"), writeMacaroons([macaroon], "v2json")];
}

/** Valid, forged and malformed tokens; parents before children. */
export const TEXTS: readonly string[] = [
  ours.token,
  narrowed,
  brief,
  sibling,
  unreadable,
  accented,
  older.token,
  grandchild,
  foreign.token,
  served.token,
  append(served.token, '{"purpose":"p"}'),
  ...reformed(narrowed),
  ...reformed(sibling),
  ...reformed(accented),
  discharged(narrowed),
  macaroonToText(
    addThirdPartyCaveat(parseMacaroon(narrowed), {
      key: utf8("a key"),
      identifier: "who",
    }),
  ),
  forged(sibling, brief),
  forged(brief, narrowed),
  forged(narrowed, sibling),
  forged(narrowed, ours.token),
  narrowed.slice(0, -4),
  narrowed.slice(0, 40),
  `${narrowed}AAAA`,
  `${ours.token.slice(0, -2)}00`,
  forged(older.token, ours.token),
  forged(grandchild, older.token),
  "",
  "{}",
  "Ag",
];

/** The index of the first of two forged tokens. Each has the caveats of one child and the signature of its sibling. */
export const FORGED: number = TEXTS.indexOf(forged(sibling, brief));

const GET: Invocation = { grant: "g", operation: "get" };
const ASKED: readonly ((issuer: Issuer, text: string) => unknown)[] = [
  (issuer, text) => issuer.authorize(text, GET),
  (issuer, text) => issuer.authorize(text, { ...GET, operation: "put", audience: SERVICE }),
  (issuer, text) => issuer.authorize(text, { ...GET, grant: "h", time: new Date(NOW + 45_000) }),
  (issuer, text) => issuer.standing(text, { audience: SERVICE }),
  (issuer, text) => issuer.revocationOf(text),
  (issuer, text) => issuer.isAuthentic(text),
  (issuer, text) => {
    const known = issuer.authenticate(text);
    return known.ok ? [known, issuer.authorize(known.token, GET)] : known;
  },
];

export const QUESTIONS: number = ASKED.length;

function linkOf(text: string): RevocationEntry {
  const found = issuing("files", second).revocationOf(text);
  if (!found.ok) throw new Error(found.denial.message);
  return found.entry;
}

const AT = formatTime(NOW);
const ENTRIES: readonly RevocationEntry[] = [
  linkOf(narrowed),
  linkOf(sibling),
  { kind: "key", id: firstKid, at: AT },
  { kind: "principal", id: "alice", at: AT, before: formatTime(NOW + 1000) },
];

export const REVOCATIONS: number = ENTRIES.length;

const LISTS: readonly RevocationList[] = Array.from({ length: 2 ** REVOCATIONS }, (_, set) => {
  const list = createRevocationList();
  for (const [at, entry] of ENTRIES.entries()) if ((set >> at) & 1) list.add(entry);
  return list;
});

/** The state on which decisions depend, besides the token and the question. */
export class World {
  ring = 0;
  moment = 0;
  /** One bit for each entry: set if the list has the entry. */
  revoked = 0;

  /** Returns an issuer that follows each change of this state. */
  issuer(cache: CacheBounds | false): Issuer {
    const list = (): RevocationList => LISTS[this.revoked] ?? createRevocationList();
    return createIssuer({
      name: "files",
      keys: () => RINGS[this.ring] ?? second,
      clock: () => NOW + (MOMENTS[this.moment] ?? 0) * 1000,
      revocations: {
        find: (query) => list().find(query),
        isCurrent: (now) => list().isCurrent(now),
      },
      cache,
    });
  }
}

/** Returns any answer as JSON, including refusals and their reasons. */
export function answer(issuer: Issuer, text: number, question: number): string {
  return JSON.stringify(ASKED[question]?.(issuer, TEXTS[text] ?? "")) ?? "";
}

/** The answers of a checker without a cache, each computed once for each state. */
export class Uncached {
  readonly #issuer: Issuer;
  readonly #answers = new Map<number, string>();
  readonly #world: World;

  constructor(world: World) {
    this.#world = world;
    this.#issuer = world.issuer(false);
  }

  answer(text: number, question: number): string {
    const { ring, moment, revoked } = this.#world;
    let state = ring;
    state = state * MOMENTS.length + moment;
    state = state * LISTS.length + revoked;
    state = (state * TEXTS.length + text) * QUESTIONS + question;
    const known = this.#answers.get(state) ?? answer(this.#issuer, text, question);
    this.#answers.set(state, known);
    return known;
  }
}
