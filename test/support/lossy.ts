// Values that would be read as having fewer properties than they hold: a Promise that was not awaited, or the wrong
// kind of object.

class Limits {
  get max(): number {
    return 1;
  }
}

/** The name of each value, and a function that makes the value anew. */
export const LOSSY: readonly (readonly [name: string, make: () => never])[] = [
  ["a Promise", () => Promise.resolve({ max: 1 })],
  ["a Map", () => new Map([["max", 1]])],
  ["an instance of a class", () => new Limits()],
  ["an inherited property", () => Object.create({ max: 1 })],
  ["a property that is not enumerable", () => Object.defineProperty({}, "max", { value: 1 })],
].map(([name, make]) => [name as string, make as () => never]);

/** Returns the message of the TypeError that a call throws or rejects with; rethrows any other error. */
export async function mistake(call: () => unknown): Promise<string> {
  try {
    await call();
  } catch (error) {
    if (error instanceof TypeError) return error.message;
    throw error;
  }
  return "taken";
}
