// The speed goals of this project, and a check whether results meet them. A measure is the name of a ratio, or of
// another value, that a part of the benchmark returns.

/** @import { Figures } from "./measure.mjs" */
/** @import { Goal } from "./goals.mjs" */

const COLD = "authorize, 3 hops, seen once";

/** @type {readonly Goal[]} */
export const GOALS = [
  least(COLD, "cold: speed to npm macaroon", 2),
  most(COLD, "cold: time to jose HS256", 1),
  least("the same token again", "warm: speed to npm macaroon", 10),
  most("a forgery", "forged: time to allowed", 1),
  most("a refusal", "refused: time to allowed", 3),
  most("a refusal", "refused at the limits, the worst: time to allowed", 3),
  most("10 million revocations", "revocations: array buffers peak per entry", 32),
  least("the service, no ledger", "service, guarded: speed to bare by the processor's time", 0.7),
  least(
    "the service, durable stores",
    "service, durable: speed to bare by the processor's time",
    0.4,
  ),
  most("the service, no ledger", "service, guarded: time at p99 to bare", 1.25),
];

/** @param {string} work @param {string} measure @param {number} goal @returns {Goal} */
function least(work, measure, goal) {
  return { work, measure, sense: "at least", goal };
}

/** @param {string} work @param {string} measure @param {number} goal @returns {Goal} */
function most(work, measure, goal) {
  return { work, measure, sense: "at most", goal };
}

/**
 * @param {Goal} goal
 * @param {number | undefined} measured
 */
export function outcome({ sense, goal }, measured) {
  if (measured === undefined) return "not measured";
  return (sense === "at least" ? measured >= goal : measured <= goal) ? "yes" : "no";
}

/** Returns the rows of the table of goals. @param {readonly Figures[]} figures */
export function goalRows(figures) {
  /** @type {Record<string, number>} */
  const all = Object.assign(
    {},
    ...figures.map(({ ratios, values = {} }) => ({ ...ratios, ...values })),
  );
  return GOALS.map((goal) => [
    goal.work,
    goal.measure,
    `${goal.sense} ${goal.goal.toLocaleString("en-US")}`,
    all[goal.measure] ?? null,
    outcome(goal, all[goal.measure]),
  ]);
}
