/**
 * Freezes a value and all that it holds, so that what is handed out cannot change a later answer. What is frozen
 * already is frozen throughout; members that a prototype gives are not looked at.
 */
export function deepFrozen<T extends object>(value: T): T {
  if (Object.isFrozen(value)) return value;
  for (const member of Object.values(value)) {
    if (typeof member === "object" && member !== null) deepFrozen(member);
  }
  return Object.freeze(value);
}
