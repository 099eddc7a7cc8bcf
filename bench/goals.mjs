// The goals of this project's speed, and whether results meet them. What is measured is a ratio or another value of
// a part, by its name.

/** @import { Figures } from "./measure.mjs" */
/** @import { Goal } from "./goals.mjs" */

const COLD = "authorize, 3 hops, seen once";
const REVOKED = "10 million revocations";

/** @type {readonly Goal[]} */
export const GOALS = [
  least(COLD, "cold: speed to npm macaroon", 3, 3.5),
  most(COLD, "cold: time to its own HMACs and hashes", 1.8),
  most(COLD, "cold: time to jose HS256", undefined, 0.5),
  least("the same token again", "warm: speed to npm macaroon", 10, 15),
  least("the same token again", "warm, plain JavaScript: speed to npm macaroon", 5),
  least("the same token again", "warm: speed to libmacaroons", undefined, 1),
  least("the same token again", "warm: speed to Go", undefined, 1),
  least("its parent seen before", "parent seen: speed to npm macaroon", 4, 6),
  most("each further hop", "each further hop: time to its HMAC and hash", 1.5, 1.25),
  most("a refusal", "refused: time to allowed", 3, 1.5),
  most("a refusal", "refused at the limits, the worst: time to allowed", 3, 1.5),
  most("a forgery", "forged: time to allowed", 1),
  least("attenuate with its lint", "attenuate: speed to npm macaroon", 3, 5),
  most("a warm allowance", "bytes allocated for each warm allowance", 1024),
  most("the command", "proviso attenuate: ms above node -e 0", 30, 20),
  most("the command", "proviso inspect: ms above node -e 0", 30, 20),
  most("the command", "proviso verify: ms above node -e 0", 50, 30),
  most(REVOKED, "revocations: array buffers peak per entry", 24),
  most(REVOKED, "revocations, an id in the list: time to a Set of the ids", 2),
  most(REVOKED, "revocations, an id not in the list: time to a Set of the ids", 2),
  most(REVOKED, "revocations: packed hit nanoseconds", undefined, 200),
  most(REVOKED, "revocations: prune longest milliseconds", undefined, 5),
  most(REVOKED, "revocations: filter bytes per entry", 2.5),
  least("the service, no ledger", "service, guarded: speed to bare", 0.8, 0.9),
  least("the service, ledger", "service, ledger: speed to bare", 0.75, 0.87),
  least("the service, durable stores", "service, durable: speed to bare", 0.6, 0.75),
  most("the service, no ledger", "service, guarded: time at p99 to bare", 1.25),
  most("the service, ledger", "service, ledger: time at p99 to bare", 1.25),
  most("the service, durable stores", "service, durable: time at p99 to bare", 1.25),
];

/** @param {string} work @param {string} measure @param {number} [goal] @param {number} [aim] @returns {Goal} */
function least(work, measure, goal, aim) {
  return { work, measure, sense: "at least", goal, aim };
}

/** @param {string} work @param {string} measure @param {number} [goal] @param {number} [aim] @returns {Goal} */
function most(work, measure, goal, aim) {
  return { work, measure, sense: "at most", goal, aim };
}

/**
 * @param {Goal} goal
 * @param {number | undefined} measured
 */
export function outcome({ sense, goal, aim }, measured) {
  if (measured === undefined) return "not measured";
  const meets = (/** @type {number | undefined} */ bound) =>
    bound !== undefined && (sense === "at least" ? measured >= bound : measured <= bound);
  if (meets(aim)) return goal === undefined ? "aim met" : "yes, and the aim";
  if (goal === undefined) return "aim missed";
  return meets(goal) ? "yes" : "no";
}

/** The rows of a table. @param {readonly Figures[]} figures */
export function goalRows(figures) {
  /** @type {Record<string, number>} */
  const all = Object.assign(
    {},
    ...figures.map(({ ratios, values = {} }) => ({ ...ratios, ...values })),
  );
  return GOALS.map((goal) => [
    ...[goal.work, goal.measure],
    ...[bound(goal, goal.goal), bound(goal, goal.aim)],
    ...[all[goal.measure] ?? null, outcome(goal, all[goal.measure])],
  ]);
}

/** @param {Goal} goal @param {number | undefined} value */
function bound({ sense }, value) {
  return value === undefined ? null : `${sense} ${value.toLocaleString("en-US")}`;
}
