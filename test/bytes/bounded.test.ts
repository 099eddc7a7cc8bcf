import { LRUCache } from "lru-cache";
import { expect, test } from "vitest";
import { atMost } from "../../src/bytes/bounded.js";

test("a cache keeps so many entries, and the latest", () => {
  const cache = new LRUCache<string, number>({ ...atMost(2) });
  for (const [at, key] of ["a", "b", "c"].entries()) cache.set(key, at);
  expect([...cache.keys()]).toEqual(["c", "b"]);
});
