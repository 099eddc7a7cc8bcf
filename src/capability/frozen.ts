/**
 * Freezes a value and everything in it, so that no caller can use it to change a later answer. Inherited
 * properties are skipped, and so are frozen values, which must be frozen completely.
 */
export function deepFrozen<T extends object>(value: T): T {
  if (Object.isFrozen(value)) return value;
  for (const inner of Object.values(value)) {
    if (typeof inner === "object" && inner !== null) deepFrozen(inner);
  }
  return Object.freeze(value);
}
