import { bytes } from "../build/bytes.js";
import { append, type Built, revocationId, type Third, third } from "../build/chain.js";
import { allowed, type CheckTest, type Entry, EXPIRES, type Setup } from "./check-test.js";

export const RETRIEVE: string = '{"operations":["retrieve"]}';
export const TWIN_1: string = '{"nonce":"AAAAAAAAAAAAAAAA"}';
export const TWIN_2: string = '{"nonce":"BBBBBBBBBBBBBBBB"}';
export const CAPABILITY: string = "cap_AAAAAAAAAAAAAAAA";

/** Returns the entry that revokes a link of a chain. Link 0 is the identifier. */
export function link(chain: Built | undefined, number: number): Entry {
  return { kind: "link", id: revocationId(chain?.tags[number] ?? bytes("")) };
}

/** Returns a setup whose revocation list has these entries, whatever the token. */
export function listed(...entries: readonly Entry[]): Setup {
  return { revocations: () => ({ entries }) };
}

/** Returns a setup with a token of these links, of which link `number` is revoked. */
export function revoking(number: number, ...links: readonly string[]): Setup {
  return { links, revocations: (token) => ({ entries: [link(token, number)] }) };
}

/**
 * Returns a setup with a token of these links. The revoked link belongs to another token, which was narrowed
 * from the same parent.
 */
export function sibling(links: readonly string[], other: string): Setup {
  return {
    links,
    revocations: (token) => {
      const parent = parentOf(token);
      return { entries: [link(append(parent, other), links.length)] };
    },
  };
}

/** Returns the token without its last caveat, as its previous holder had it. */
export function parentOf(token: Built): Built {
  const tags = token.tags.slice(0, -1);
  return {
    ...token,
    caveats: token.caveats.slice(0, -1),
    tags,
    signature: tags.at(-1) ?? bytes(""),
  };
}

export function alice(before: string): Entry {
  return { kind: "principal", id: "user:alice", before };
}

export function trusted(trustedUntil: string, entries: readonly Entry[] = []): Setup {
  return { revocations: () => ({ trustedUntil, entries }) };
}

export const ASK: Third = third("ask");
export const NESTED: Third = third("nested");
export const ASKING: Setup = {
  links: [EXPIRES, ASK],
  discharges: [{ of: ASK, links: [RETRIEVE] }],
};

export function inDischarge(number: number): Setup {
  return { ...ASKING, revocations: (_, [one]) => ({ entries: [link(one, number)] }) };
}

export function kept(comment: string, setup: Setup): CheckTest {
  return allowed(comment, "Revocation", setup);
}
