// Measures the cost of a decision as the token, the revocation list and the number of grants grow.
import { createIssuer, createKeyring, createRevocationList } from "proviso/issuer";
import { each, here, inTurns, microseconds, ratio, rounded } from "../measure.mjs";

/** @import { Figures, Size } from "../measure.mjs" */

const EXPIRES = "2099-01-01T00:00:00Z";
const call = { grant: "g", operation: "get", resourceHandles: ["rh_000"] };

/** @param {number} handles @param {number} grants @param {number} listed */
function contender(handles, grants, listed) {
  const revocations = createRevocationList();
  for (let at = 0; at < listed; at++) {
    const id = `cap_${String(at).padStart(16, "0")}`;
    revocations.add({ kind: "capability", id, until: EXPIRES, at: "2026-01-01T00:00:00Z" });
  }
  const others = Array.from({ length: grants - 1 }, (_, at) => ({
    id: `g${at}`,
    description: "Another",
    operations: [`do${at}`],
  }));
  const issuer = createIssuer({
    name: "bench",
    keys: createKeyring(),
    revocations,
    grants: [{ id: "g", description: "Get", operations: ["get"] }, ...others],
  });
  const names = Array.from({ length: handles }, (_, at) => `rh_${String(at).padStart(3, "0")}`);
  const tokens = Array.from(
    { length: 1280 },
    () => issuer.mint({ grant: "g", operations: ["get"], resourceHandles: names }).token,
  );
  const operation = each(tokens, (token) => {
    if (!issuer.authorize(token, call).allowed) throw new Error("refused");
  });
  return { bytes: tokens[0]?.length ?? 0, operation };
}

/** @param {Size & { quick: boolean }} size @returns {Promise<Figures[]>} */
export async function run(size) {
  const series = [
    {
      title: "Time by token size",
      of: [1, 32, 64, 100]
        .map((at) => ({ at, ...contender(at, 1, 0) }))
        .map((one) => ({ ...one, at: one.bytes })),
    },
    {
      title: "Time by revocations in the list",
      of: (size.quick ? [0, 1000, 10_000] : [0, 1000, 10_000, 100_000]).map((at) => ({
        at,
        ...contender(1, 1, at),
      })),
    },
    {
      title: "Time by grants that the issuer knows",
      of: [1, 16, 128, 1000].map((at) => ({ at, ...contender(1, at, 0) })),
    },
  ];
  /** @type {Figures} */
  const figures = {
    title: "Cost as work grows",
    about: "Microseconds of a cold decision, one hop.",
    columns: ["", "smallest", "µs", "largest", "µs"],
    rows: [],
    ratios: {},
  };
  for (const { of, title } of series) {
    const rounds = await inTurns(
      of.map(({ at, operation }) => here(String(at), operation)),
      size,
    );
    const points = of.map(
      ({ at }) => /** @type {[number, number]} */ ([at, microseconds(rounds, String(at)) ?? 0]),
    );
    const [first = [0, 0], last = [0, 0]] = [points[0], points.at(-1)];
    figures.rows.push([title, ...first, ...last]);
    const grown = ratio(rounds, String(last[0]), String(first[0]));
    if (grown !== undefined) figures.ratios[`${title}: largest to smallest`] = rounded(grown);
  }
  return [figures];
}
