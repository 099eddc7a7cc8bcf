import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { following, stampOf } from "../../src/system/file-stamp.js";

const STAT = { dev: 1n, ino: 2n, size: 3n, mtimeNs: 4n, ctimeNs: 5n };

let now = 0;
beforeEach(() => {
  now = 1000;
  vi.spyOn(performance, "now").mockImplementation(() => now);
});
afterEach(() => {
  vi.restoreAllMocks();
});

test("stampOf gives another stamp if the device, inode, size or a time of the file differs", () => {
  const stamps = [STAT, ...Object.keys(STAT).map((name) => ({ ...STAT, [name]: 9n }))].map((stat) =>
    stampOf(stat as Parameters<typeof stampOf>[0]),
  );
  expect(new Set(stamps).size).toBe(6);
  expect(stampOf({ ...STAT } as Parameters<typeof stampOf>[0])).toBe(stamps[0]);
});

test("following() checks the stamp after its interval, and reads again if the stamp has changed", () => {
  let stamp = "a";
  const looks = vi.fn(() => stamp);
  const read = vi.fn(() => ({ from: stamp }));
  const follow = following(50, looks, read);

  const first = follow();
  expect(first).toEqual({ from: "a" });
  now += 49;
  stamp = "b";
  expect(follow()).toBe(first);
  expect(looks).toHaveBeenCalledTimes(1);

  now += 1;
  expect(follow()).toEqual({ from: "b" });
  now += 50;
  expect(follow()).toEqual({ from: "b" });
  expect([looks.mock.calls.length, read.mock.calls.length]).toEqual([3, 2]);
});

test("following() throws if a read fails, and reads again at once until a read succeeds", () => {
  let stamp = "a";
  let fails = false;
  const read = (): string => {
    if (fails) throw new Error("unreadable");
    return stamp;
  };
  const follow = following(50, () => stamp, read);
  expect(follow()).toBe("a");
  now += 60;
  [stamp, fails] = ["b", true];
  expect(follow).toThrow("unreadable");
  fails = false;
  expect(follow()).toBe("b");
});
