/**
 * Freezes a value and everything in it, so that no caller can change a later answer through it. Skips inherited
 * properties, and values that are already frozen; everything inside a frozen value must be frozen, too.
 */
export function deepFrozen<T extends object>(value: T): T {
  if (Object.isFrozen(value)) return value;
  for (const inner of Object.values(value)) {
    if (typeof inner === "object" && inner !== null) deepFrozen(inner);
  }
  return Object.freeze(value);
}
