import { assertReading, type CardReading } from "./card.js";
import { type CardChange, type ChangeImpact, differences } from "./change.js";
import { isSameJson } from "./fields.js";
import { changesOf } from "./impact.js";
import { meaningsOf } from "./meaning.js";
import { assertRegistry, CAPABILITY_REGISTRY, type CapabilityRegistry } from "./registry.js";

/** Maximum number of differences that are listed for two cards. */
const MOST = 1000;

/**
 * Compares two cards of one agent. Returns each difference with its effect on callers that rely on the first
 * card. If the cards differ only in spelling or order, returns one safe change.
 *
 * @param registry - The registry that says which capabilities are deprecated; this package's registry unless
 *   given.
 * @returns The changes, breaking changes first; empty if the cards are equal. At most 1,000 differences are
 *   listed; if there are more, one further breaking change reports that. If the cards do not have the same faults,
 *   each fault of `after` is a breaking change, too.
 * @throws TypeError if an argument is not a card returned by {@link readCard}, or not a registry.
 * @example
 * ```ts
 * import { compareCards, readCard } from "proviso/discovery";
 *
 * const before = readCard({ name: "agent", capabilities: { pause_resume: true } });
 * const after = readCard({ name: "agent", capabilities: {} });
 * const [change] = compareCards(before, after);
 * change?.impact; // => "breaking"
 * change?.path; // => "capabilities/pause_resume"
 * ```
 */
export function compareCards(
  before: CardReading,
  after: CardReading,
  registry: CapabilityRegistry = CAPABILITY_REGISTRY,
): readonly CardChange[] {
  assertReading(before, "before");
  assertReading(after, "after");
  assertRegistry(registry);
  const changes: CardChange[] = [];
  for (const one of differences(...meaningsOf(before, after))) {
    changes.push(...changesOf(one, registry).slice(0, MOST + 1 - changes.length));
    if (changes.length > MOST) break;
  }
  if (changes.length > MOST) {
    const message = `the cards differ in more than ${MOST} things; the others are not listed`;
    changes[MOST] = { impact: "breaking", path: "", message };
  }
  changes.push(...newFaults(before, after));
  const isDeep = [before, after].some(({ faults }) =>
    faults.some((one) => one.rule === "too_deep"),
  );
  if (changes.length === 0 && (isDeep || !isSameJson(before.document, after.document))) {
    const message = "the card is written in another way, and means the same";
    changes.push({ impact: "safe", path: "", message });
  }
  const order: readonly ChangeImpact[] = ["breaking", "deprecating", "safe"];
  return changes.toSorted((a, b) => order.indexOf(a.impact) - order.indexOf(b.impact));
}

function newFaults(before: CardReading, after: CardReading): readonly CardChange[] {
  const same = (a: CardReading, b: CardReading): boolean =>
    isSameJson(
      a.faults.map(({ message }) => message),
      b.faults.map(({ message }) => message),
    );
  if (same(before, after)) return [];
  const gone = after.faults.length === 0;
  if (gone) return [{ impact: "safe", path: "", message: "the card no longer contradicts itself" }];
  return after.faults.map(({ path = "", message }) => ({ impact: "breaking", path, message }));
}
