// Measures the time from the text of a token to the decision, for proviso and every peer, by the number of hops.
import { each, here, inTurns, microseconds, ratio, rounded } from "../measure.mjs";
import { startChildren } from "../peers/children.mjs";
import { npmMacaroons } from "../peers/macaroons.mjs";
import { signatureChain, webTokens } from "../peers/signed.mjs";
import * as work from "../workload.mjs";

/** @import { Figures, Plot, Rounds, Size } from "../measure.mjs" */

const COLD = "proviso, each token seen once";
const WARM = "proviso, the same token again";
const REFUSED = "proviso, refused, seen once";
const FORGED = "proviso, forged, seen once";
const NPM = "npm macaroon";
const { ALLOWED } = work;

/** @param {number} hops @param {boolean} quick */
function ours(hops, quick) {
  const count = quick && hops > 8 ? 1024 : 1280;
  const tokens = work.pool(hops, count);
  const again = tokens[0] ?? "";
  const contenders = [
    here(
      COLD,
      each(tokens, (token) => work.decide(token, ALLOWED, true)),
    ),
    here(WARM, () => work.decide(again, ALLOWED, true)),
    here(
      FORGED,
      each(work.forged(tokens), (token) => work.decide(token, ALLOWED, false)),
    ),
  ];
  if (hops > 1) {
    contenders.push(
      here(
        REFUSED,
        each(work.pool(hops, count), (t) => work.decide(t, work.REFUSED, false)),
      ),
    );
  }
  return { tokens, contenders };
}

/** @param {Size & { quick: boolean }} size @returns {Promise<Figures[]>} */
export async function run(size) {
  const children = startChildren();
  /** @type {Map<number, Rounds>} */
  const all = new Map();
  /** @type {Record<string, (number | null)[]>} */
  const bytes = {};
  const depths = work.DEPTHS;
  const sized = (/** @type {string} */ name, /** @type {number | null} */ value) => {
    bytes[name] = [...(bytes[name] ?? []), value];
  };
  try {
    for (const hops of depths) {
      const { tokens, contenders } = ours(hops, size.quick);
      const old = tokens.map(work.inVersion1);
      const web = await webTokens(hops, 64);
      const chain = signatureChain(hops, 64);
      contenders.push(...npmMacaroons(tokens), ...web.contenders, ...chain.contenders);
      sized("proviso (macaroon v2)", tokens[0]?.length ?? 0);
      sized("macaroon v1", old[0]?.length ?? 0);
      sized("JSON Web Token, HS256", web.bytes.HS256);
      sized("JSON Web Token, EdDSA", web.bytes.EdDSA);
      sized("Ed25519 chain", chain.bytes);
      for (const child of children) {
        const made = await child.verify(hops, tokens, old);
        contenders.push(made.contender);
        if (made.bytes !== undefined) sized(child.name, made.bytes);
      }
      all.set(hops, await inTurns(contenders, size));
    }
  } finally {
    for (const child of children) child.close();
  }
  const names = Object.keys(all.get(3) ?? {});
  const columns = depths.map((hops) => `${hops} hop${hops === 1 ? "" : "s"}`);
  return [
    {
      title: "From text to decision",
      about:
        "Microseconds. Text in, decision out; the macaroon packages verify the chain and judge nothing.",
      columns: ["", ...columns],
      rows: names.map((name) => [name, ...depths.map((d) => microseconds(all.get(d) ?? {}, name))]),
      ratios: ratiosOf(all),
      plots: [plotOf(all, names)],
    },
    {
      title: "Bytes of a token",
      about: "Characters of the text that is sent.",
      columns: ["", ...columns],
      rows: Object.entries(bytes).map(([name, values]) => [name, ...values]),
      ratios: {},
    },
  ];
}

/** @param {Map<number, Rounds>} all */
function ratiosOf(all) {
  const three = all.get(3) ?? {};
  const eight = all.get(8) ?? {};
  /** @type {Record<string, number | undefined>} */
  const found = {
    "cold: speed to npm macaroon": ratio(three, NPM, COLD),
    "cold: time to jose HS256": ratio(three, COLD, "jose HS256"),
    "warm: speed to npm macaroon": ratio(three, NPM, WARM),
    "warm: speed to Go": ratio(three, "macaroon.v2 (Go)", WARM),
    "warm: speed to libmacaroons": ratio(three, "libmacaroons (C)", WARM),
    "refused: time to allowed": ratio(three, REFUSED, COLD),
    "forged: time to allowed": ratio(three, FORGED, COLD),
    "cold, 8 hops: speed to npm macaroon": ratio(eight, NPM, COLD),
  };
  /** @type {Record<string, number>} */
  const ratios = {};
  for (const [name, value] of Object.entries(found)) {
    if (value !== undefined && Number.isFinite(value)) ratios[name] = rounded(value);
  }
  return ratios;
}

/** @param {Map<number, Rounds>} all @param {readonly string[]} names @returns {Plot} */
function plotOf(all, names) {
  const drawn = names.filter((name) => [COLD, WARM, NPM, "macaroon.v2 (Go)"].includes(name));
  return {
    file: "hops",
    title: "Time by hops",
    x: "hops",
    y: "µs",
    says: "A cold decision grows by one HMAC, one hash and one reading for each hop.",
    lines: drawn.map((name) => ({
      name,
      points: [...all].flatMap(([hops, rounds]) => {
        const value = microseconds(rounds, name);
        return value === null ? [] : [/** @type {[number, number]} */ ([hops, value])];
      }),
    })),
  };
}
