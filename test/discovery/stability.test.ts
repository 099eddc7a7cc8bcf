import { describe, expect, test } from "vitest";
import {
  CAPABILITY_REGISTRY,
  type CapabilityRegistry,
  checkRegistry,
  checkStability,
  type RegisteredCapability,
} from "../../src/discovery/index.js";

const PAUSE: RegisteredCapability = {
  name: "pause_resume",
  tier: "declared",
  description: "pauses a task",
  introduced: "1.0",
};
const OLD: RegisteredCapability = { ...PAUSE, deprecated: "2.0" };

function registry(version: string, ...capabilities: RegisteredCapability[]): CapabilityRegistry {
  return { version, capabilities };
}

test("this package's own registry keeps the rules of stability", () => {
  expect(checkRegistry(CAPABILITY_REGISTRY)).toEqual([]);
  expect(checkStability(CAPABILITY_REGISTRY, CAPABILITY_REGISTRY)).toEqual([]);
});

describe("checkRegistry reports exactly the violated rules", () => {
  test.each<[about: string, CapabilityRegistry, readonly string[]]>([
    [
      "introduced in 1.0, deprecated in 2.0, removed in 3.0",
      registry("2.0", { ...OLD, removed: "3.0" }),
      [],
    ],
    ["announced for removal in 3.2, allowed", registry("2.0", { ...OLD, removed: "3.2" }), []],
    ["removed in 2.1, refused", registry("2.0", { ...OLD, removed: "2.1" }), ["removed_early"]],
    [
      "deprecated and removed in 2.0, refused",
      registry("2.0", { ...OLD, removed: "2.0" }),
      ["entry_malformed", "removed_early"],
    ],
    ["a registry without a version", registry("two", PAUSE), ["entry_malformed"]],
    [
      "never deprecated, and removed",
      registry("2.0", { ...PAUSE, removed: "3.0" }),
      ["removed_undeprecated"],
    ],
    [
      "deprecated in a minor release, refused",
      registry("2.3", { ...OLD, deprecated: "2.3" }),
      ["deprecated_in_minor"],
    ],
    [
      "deprecated in the major release of its introduction, refused",
      registry("1.4", { ...OLD, deprecated: "1.4" }),
      ["deprecated_in_minor"],
    ],
    ["announced for later", registry("1.4", { ...PAUSE, deprecated: "2.0" }), []],
    [
      "the proposal's example as written, at the version that removes it",
      registry("3.0", { ...OLD, removed: "3.0" }),
      [],
    ],
    [
      "the proposal's example at the version that deprecates it",
      registry("2.0", { ...OLD, removed: "3.0" }),
      [],
    ],
    [
      "a successor that is missing",
      registry("2.0", { ...OLD, supersededBy: "gone" }),
      ["entry_malformed"],
    ],
    ["a name twice", registry("1.0", PAUSE, PAUSE), ["entry_malformed"]],
    ["a malformed name", registry("1.0", { ...PAUSE, name: "pauseResume" }), ["entry_malformed"]],
    ["a missing version", registry("1.0", { ...PAUSE, introduced: "soon" }), ["entry_malformed"]],
  ])("in the case: %s", (_, given, expected) => {
    expect(checkRegistry(given).map(({ code }) => code)).toEqual(expected);
  });
});

describe("checkStability reports exactly the rules that the next registry violates", () => {
  const one = registry("1.0", PAUSE);
  const two = registry("2.0", OLD);
  const more: RegisteredCapability = { ...PAUSE, name: "more", introduced: "1.1" };
  const implicit: RegisteredCapability = { ...PAUSE, tier: "implicit" };
  test.each<
    [
      about: string,
      previous: CapabilityRegistry,
      next: CapabilityRegistry,
      expected: readonly string[],
    ]
  >([
    ["deprecation by a major release", one, two, []],
    ["removal by the next major release", two, registry("3.0", { ...OLD, removed: "3.0" }), []],
    ["an announced removal", two, registry("2.1", { ...OLD, removed: "3.0" }), []],
    [
      "removal within the same major release",
      two,
      registry("2.4", { ...OLD, removed: "2.4" }),
      ["removed_early"],
    ],
    ["an entry dropped after its removal", two, registry("3.0"), ["entry_missing"]],
    ["an entry dropped without removal", one, registry("1.1"), ["entry_missing"]],
    [
      "a removal in the past",
      registry("3.1", OLD),
      registry("3.2", { ...OLD, removed: "3.0" }),
      ["history_changed"],
    ],
    ["a new capability", one, registry("1.1", PAUSE, more), []],
    [
      "a new capability with an old version of introduction",
      one,
      registry("1.1", PAUSE, { ...more, introduced: "1.0" }),
      ["history_changed"],
    ],
    [
      "a new capability that every agent must have",
      one,
      registry("1.1", PAUSE, { ...more, tier: "implicit" }),
      ["narrowed"],
    ],
    [
      "a changed version of introduction",
      one,
      registry("1.1", { ...PAUSE, introduced: "0.9" }),
      ["history_changed"],
    ],
    ["a deprecation that is withdrawn", two, registry("2.1", PAUSE), ["history_changed"]],
    ["a new prerequisite", one, registry("1.1", { ...PAUSE, needs: "streaming" }), ["narrowed"]],
    [
      "a capability that must now be declared",
      registry("1.0", implicit),
      registry("1.1", PAUSE),
      ["narrowed"],
    ],
    [
      "a capability that must be declared from the next major release on",
      registry("1.0", implicit),
      registry("2.0", PAUSE),
      [],
    ],
    [
      "a capability that all agents must have at once",
      one,
      registry("1.1", implicit),
      ["narrowed"],
    ],
    ["a registry older than the previous one", two, one, ["entry_malformed"]],
  ])("in the case: %s", (_, previous, next, expected) => {
    expect(checkStability(previous, next).map(({ code }) => code)).toEqual(expected);
  });
});

describe("checkRegistry and checkStability throw a TypeError", () => {
  test.each<[about: string, given: unknown, message: RegExp]>([
    ["null", null, /^registry must be an object with version and capabilities, not null/],
    ["no version", { capabilities: [] }, /^registry\.version: expected a version/],
    ["no capabilities", { version: "1.0" }, /^registry\.capabilities: expected an array/],
    [
      "an entry that is a string",
      { version: "1.0", capabilities: ["pause"] },
      /\[0\]: expected an object/,
    ],
    [
      'an entry whose tier is "deprecated"',
      registry("1.0", Object.assign({}, PAUSE, { tier: "deprecated" })),
      /\[0\]\.tier: expected "implicit" or "declared"/,
    ],
    [
      "a misspelt property",
      registry("1.0", Object.assign({}, PAUSE, { deprecate: "2.0" })),
      /\[0\]\.deprecate: unknown property; did you mean "deprecated"/,
    ],
    [
      "an entry without a version of introduction",
      { version: "1.0", capabilities: [{ name: "a", tier: "declared" }] },
      /\[0\]\.introduced: is missing/,
    ],
  ])("for %s", (_, given, message) => {
    const check: (value: CapabilityRegistry) => unknown = checkRegistry;
    expect(() => Reflect.apply(check, undefined, [given])).toThrow(TypeError);
    expect(() => Reflect.apply(check, undefined, [given])).toThrow(message);
    expect(() => Reflect.apply(checkStability, undefined, [CAPABILITY_REGISTRY, given])).toThrow(
      /^next/,
    );
  });
});
