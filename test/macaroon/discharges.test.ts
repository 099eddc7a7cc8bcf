import { describe, expect, test } from "vitest";
import {
  addFirstPartyCaveat,
  addThirdPartyCaveat,
  bindDischarge,
  createMacaroon,
  createRootKey,
  type Macaroon,
  type MacaroonLimits,
  macaroonsFromBytes,
  macaroonToBytes,
  verifyMacaroon,
} from "../../src/macaroon/index.js";
import { cpuTime } from "../support/cpu-time.js";
import { concat, extendSignature, FIELD, field, VID, v2 } from "./raw.js";
import { utf8 } from "./support.js";

const ROOT = "root";
const rootKey = createRootKey(utf8(`key of ${ROOT}`));

/** Returns a macaroon called `name`, under its own key, that needs the discharges `needs`. */
function needing(name: string, ...needs: string[]): Macaroon {
  const start = createMacaroon(createRootKey(utf8(`key of ${name}`)), { identifier: name });
  return needs.reduce(
    (macaroon, need) =>
      addThirdPartyCaveat(macaroon, { key: utf8(`key of ${need}`), identifier: need }),
    addFirstPartyCaveat(start, `predicate of ${name}`),
  );
}

/** Returns `ok`, or the failure's code and place as `code macaroon/caveat`. */
function verdict(
  root: Macaroon,
  discharges: readonly Macaroon[],
  limits?: Partial<MacaroonLimits>,
): string {
  const options = { discharges, check: () => true, ...(limits && { limits }) };
  const result = verifyMacaroon(root, rootKey, options);
  if (result.ok) return "ok";
  return result.failures
    .map(({ code, macaroon, caveat }) => `${code} ${macaroon}${caveat ? `/${caveat}` : ""}`)
    .join();
}

interface Graph {
  readonly about: string;
  /** The discharges that each macaroon needs. The first macaroon is the root; the others are bound and presented. */
  readonly needs: Readonly<Record<string, readonly string[]>>;
  readonly expected: string;
}

const GRAPHS: readonly Graph[] = [
  { about: "no third party", needs: { root: [] }, expected: "ok" },
  { about: "one discharge", needs: { root: ["a"], a: [] }, expected: "ok" },
  { about: "two discharges", needs: { root: ["a", "b"], a: [], b: [] }, expected: "ok" },
  {
    about: "discharges in another order",
    needs: { root: ["a", "b"], b: [], a: [] },
    expected: "ok",
  },
  { about: "a nested discharge", needs: { root: ["a"], a: ["b"], b: [] }, expected: "ok" },
  {
    about: "a tree",
    needs: { root: ["a", "b"], c: [], a: ["c", "d"], b: ["e"], d: [], e: [] },
    expected: "ok",
  },
  { about: "a missing discharge", needs: { root: ["a"] }, expected: "discharge_missing 0/2" },
  {
    about: "a missing nested discharge",
    needs: { root: ["a"], a: ["b"] },
    expected: "discharge_missing 1/2",
  },
  { about: "an unused discharge", needs: { root: [], a: [] }, expected: "discharge_unused 1" },
  {
    about: "an unused discharge among used ones",
    needs: { root: ["a", "c"], a: [], b: [], c: [] },
    expected: "discharge_unused 2",
  },
  {
    about: "unused discharges that need each other",
    needs: { root: [], a: ["b"], b: ["a"] },
    expected: "discharge_unused 1",
  },
  {
    about: "one discharge for two caveats of the root",
    needs: { root: ["a", "a"], a: [] },
    expected: "discharge_reused 0/3",
  },
  {
    about: "one discharge for two discharges (a DAG)",
    needs: { root: ["a", "b"], a: ["c"], b: ["c"], c: [] },
    expected: "discharge_reused 2/2",
  },
  {
    about: "a discharge that needs itself",
    needs: { root: ["a"], a: ["a"] },
    expected: "discharge_cyclic 1/2",
  },
  {
    about: "two discharges that need each other",
    needs: { root: ["a"], a: ["b"], b: ["a"] },
    expected: "discharge_cyclic 2/2",
  },
  {
    about: "a cycle of three below a discharge",
    needs: { root: ["r"], r: ["a"], a: ["b"], b: ["c"], c: ["a"] },
    expected: "discharge_cyclic 4/2",
  },
  {
    about: "a discharge that needs the root",
    needs: { root: ["a"], a: ["root"] },
    expected: "discharge_missing 1/2",
  },
];

describe("the result of verifyMacaroon for", () => {
  test.each(GRAPHS)("$about: $expected", ({ needs, expected }) => {
    const [root = needing(ROOT), ...others] = Object.entries(needs).map(([name, needed]) =>
      needing(name, ...needed),
    );
    const discharges = others.map((discharge) => bindDischarge(root, discharge));
    expect(verdict(root, discharges)).toBe(expected);
  });

  test("two discharges with one identifier: discharge_duplicate, even if one of them is right", () => {
    const root = needing(ROOT, "a");
    const right = bindDischarge(root, needing("a"));
    expect(verdict(root, [right, right])).toBe("discharge_duplicate 2");
    const other = createMacaroon(createRootKey(utf8("other")), { identifier: "a" });
    expect(verdict(root, [right, other])).toBe("discharge_duplicate 2");
  });

  test("the root as its own discharge: discharge_mismatch, or discharge_cyclic if bound to itself", () => {
    const root = needing(ROOT, ROOT);
    expect(verdict(root, [root])).toBe("discharge_mismatch 1");
    // Bound to itself, the root is a valid discharge of itself, which is a cycle.
    expect(verdict(root, [bindDischarge(root, root)])).toBe("discharge_cyclic 1/2");
  });
});

describe("verifyMacaroon refuses", () => {
  const root = needing(ROOT, "a");

  test("an unbound discharge", () => {
    expect(verdict(root, [needing("a")])).toBe("discharge_mismatch 1");
  });

  test("a discharge bound twice", () => {
    const twice = bindDischarge(root, bindDischarge(root, needing("a")));
    expect(verdict(root, [twice])).toBe("discharge_mismatch 1");
  });

  test("a discharge bound to another root", () => {
    const other = addFirstPartyCaveat(root, "later");
    expect(verdict(root, [bindDischarge(other, needing("a"))])).toBe("discharge_mismatch 1");
    expect(verdict(other, [bindDischarge(root, needing("a"))])).toBe("discharge_mismatch 1");
  });

  test("a nested discharge bound to its parent instead of the root", () => {
    const a = needing("a", "b");
    const discharges = [bindDischarge(root, a), bindDischarge(a, needing("b"))];
    expect(verdict(root, discharges)).toBe("discharge_mismatch 2");
  });

  test("a discharge made with another caveat key", () => {
    const wrong = createMacaroon(createRootKey(utf8("wrong")), { identifier: "a" });
    expect(verdict(root, [bindDischarge(root, wrong)])).toBe("discharge_mismatch 1");
  });

  test("a discharge extended after it was bound", () => {
    const late = addFirstPartyCaveat(bindDischarge(root, needing("a")), "late");
    expect(verdict(root, [late])).toBe("discharge_mismatch 1");
  });
});

describe("a third-party caveat whose key cannot be unsealed", () => {
  test("is refused, although the signature is valid", () => {
    const start = createMacaroon(rootKey, { identifier: ROOT });
    const signature = extendSignature(start.signature, VID, "a");
    const bytes = v2(
      [field(FIELD.identifier, ROOT)],
      [[field(FIELD.identifier, "a"), field(FIELD.vid, VID)]],
      field(FIELD.signature, signature),
    );
    const [root] = macaroonsFromBytes(bytes).macaroons;
    expect(verdict(root, [bindDischarge(root, needing("a"))])).toBe("caveat_key_sealed 0/1");
    expect(verdict(root, [])).toBe("discharge_missing 0/1");
  });
});

describe("long chains of discharges", () => {
  /**
   * Returns a graph in which the root needs discharge 1, discharge 1 needs discharge 2, and so on. The last discharge
   * needs none.
   */
  function linear(length: number): { root: Macaroon; discharges: Macaroon[] } {
    const root = needing(ROOT, "1");
    const discharges = Array.from({ length }, (_, at) =>
      bindDischarge(root, needing(`${at + 1}`, ...(at + 1 < length ? [`${at + 2}`] : []))),
    );
    return { root, discharges };
  }

  test("are verified down to the nesting limit, and refused past the limit", () => {
    const { root, discharges } = linear(16);
    expect(verdict(root, discharges)).toBe("ok");
    expect(verdict(root, discharges, { nesting: 15 })).toBe("discharge_too_deep 15/2");
    expect(verdict(root, discharges, { nesting: 0 })).toBe("discharge_too_deep 0/2");
    const longer = linear(17);
    expect(verdict(longer.root, longer.discharges)).toBe("discharge_too_deep 16/2");
  });

  test("of 5,000 are refused within a second by a limit, and do not overflow the stack without limits", () => {
    const { root, discharges } = linear(5000);
    const bytes = macaroonToBytes(root, "v2").length * 10_000;
    const spent = cpuTime();
    expect(verdict(root, discharges)).toBe("too_many_discharges 0");
    expect(verdict(root, discharges, { discharges: 5000 })).toBe("too_large 0");
    expect(spent()).toBeLessThan(1000);
    const wide = { discharges: 5000, bytes };
    expect(verdict(root, discharges, wide)).toBe("discharge_too_deep 16/2");
    expect(verdict(root, discharges, { ...wide, nesting: 5000 })).toBe("ok");
  });

  test("of 5,000 are refused by a limit when read from bytes", () => {
    const one = macaroonToBytes(needing("a"), "v2");
    const many = concat(...Array(5000).fill(one));
    expect(() => macaroonsFromBytes(many)).toThrow(/has \d+ bytes/);
    expect(() => macaroonsFromBytes(many, { bytes: many.length })).toThrow(/64 discharges/);
  });
});
