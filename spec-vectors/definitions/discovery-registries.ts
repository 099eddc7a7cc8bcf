import { breaks, type DiscoverySubject, keeps, type Members } from "./discovery-test.js";

/** Returns a declared capability that was introduced in 1.0. `members` replace or add properties. */
function entry(name: string, members: Members = {}): Members {
  return { name, tier: "declared", introduced: "1.0", ...members };
}

function registry(version: string, ...capabilities: readonly Members[]): Members {
  return { version, capabilities };
}

const RESUME = entry("resume");
const PAUSE = entry("pause");
/** A capability that was introduced in 1.0, deprecated in 2.0 and removed in 3.0. */
const ENDED = entry("pause", { deprecated: "2.0", removed: "3.0", supersededBy: "resume" });

/** Returns a registry of version 3.0 with the capability `pause`, and with `resume`. */
function holding(members: Members): { registry: Members } {
  return { registry: registry("3.0", entry("pause", members), RESUME) };
}

/** Returns a registry and its successor. */
function following(
  [before, ...old]: readonly [string, ...Members[]],
  [after, ...next]: readonly [string, ...Members[]],
): { registry: Members; previous: Members } {
  return { registry: registry(after, ...next), previous: registry(before, ...old) };
}

export const registries: DiscoverySubject = {
  type: "registry",
  subject: "a registry by itself",
  comment: "Section 14.2, rules 1 to 4",
  tests: [
    keeps("introduced in 1.0, deprecated in 2.0, removed in 3.0", ["Normal", "SpecExample"], {
      registry: registry("3.0", ENDED, RESUME),
    }),
    keeps("the same, before it is removed", "Stability", {
      registry: registry("2.4", ENDED, RESUME),
    }),
    breaks(
      "deprecated in 2.0, removed in 2.x",
      ["Stability", "SpecExample"],
      holding({ deprecated: "2.0", removed: "2.1" }),
      3,
    ),
    keeps("introduced in a minor release", "Stability", holding({ introduced: "1.4" })),
    keeps(
      "deprecated by the version that introduces it",
      "Stability",
      holding({ introduced: "1.0", deprecated: "1.0" }),
    ),
    keeps(
      "removed in a minor release of the next major one",
      "Stability",
      holding({ deprecated: "2.0", removed: "3.2" }),
    ),
    keeps("versions with patch parts", "Stability", {
      registry: registry("1.0.1", entry("pause", { introduced: "1.0.2" })),
    }),
    breaks("a name twice", "Stability", { registry: registry("1.0", PAUSE, PAUSE) }, 1),
    breaks("a name in camelCase", "Stability", { registry: registry("1.0", entry("pauseAll")) }, 1),
    breaks("a name with a dot", "Stability", { registry: registry("1.0", entry("acme.pause")) }, 1),
    breaks("its version cannot be read", "Stability", { registry: registry("1.x", PAUSE) }, 1),
    breaks("a capability's version cannot be read", "Stability", holding({ introduced: "one" }), 1),
    breaks("introduced later than the registry", "Stability", holding({ introduced: "3.1" }), 1),
    breaks(
      "introduced later than the registry, in numbers",
      "Stability",
      { registry: registry("1.9", entry("pause", { introduced: "1.10" })) },
      1,
    ),
    breaks(
      "deprecated before it is introduced",
      "Stability",
      holding({ introduced: "2.1", deprecated: "2.0" }),
      1,
    ),
    breaks(
      "deprecated in a minor release",
      "Stability",
      holding({ deprecated: "2.1", removed: "3.0" }),
      2,
    ),
    breaks("removed without having been deprecated", "Stability", holding({ removed: "3.0" }), 3),
    breaks(
      "removed by the version that deprecates it",
      ["Stability", "AllReported"],
      holding({ deprecated: "3.0", removed: "3.0" }),
      ...([1, 3] as const),
    ),
    breaks(
      "removed before it is deprecated",
      ["Stability", "AllReported"],
      holding({ deprecated: "3.0", removed: "2.0" }),
      ...([1, 3] as const),
    ),
    breaks(
      "superseded by one that is not there",
      "Stability",
      holding({ deprecated: "2.0", supersededBy: "rest" }),
      4,
    ),
    breaks(
      "superseded by one that is removed",
      "Stability",
      {
        registry: registry(
          "3.0",
          entry("rest", { deprecated: "1.0", supersededBy: "pause" }),
          ENDED,
          RESUME,
        ),
      },
      4,
    ),
    keeps("superseded by one that is to be removed later", "Stability", {
      registry: registry(
        "2.0",
        entry("rest", { deprecated: "1.0", supersededBy: "pause" }),
        ENDED,
        RESUME,
      ),
    }),
    breaks(
      "its version cannot be read, and a capability is deprecated in a minor release",
      ["Stability", "AllReported"],
      { registry: registry("one", entry("pause", { deprecated: "1.2" })) },
      ...([1, 2] as const),
    ),
    breaks(
      "every rule at once",
      ["Stability", "AllReported"],
      {
        registry: registry(
          "1.0",
          entry("a", { introduced: "1.1" }),
          entry("b", { deprecated: "1.2" }),
          entry("c", { removed: "2.0" }),
          entry("d", { supersededBy: "e" }),
        ),
      },
      ...([1, 2, 3, 4] as const),
    ),
  ],
};

export const registryChanges: DiscoverySubject = {
  type: "registry",
  subject: "a registry that follows another",
  comment: "Section 14.2, rules 5 to 7: what was said stays, and only the future is written",
  tests: [
    keeps("the same", ["Normal", "Stability"], following(["1.0", PAUSE], ["1.0", PAUSE])),
    keeps(
      "one capability more",
      ["Normal", "Stability"],
      following(["1.0", PAUSE], ["1.1", PAUSE, entry("resume", { introduced: "1.1" })]),
    ),
    keeps(
      "in another order",
      "Stability",
      following(["1.0", PAUSE, RESUME], ["1.1", RESUME, PAUSE]),
    ),
    keeps(
      "deprecated by the next major release",
      "Stability",
      following(["1.4", PAUSE], ["2.0", entry("pause", { deprecated: "2.0" })]),
    ),
    keeps(
      "its deprecation announced",
      "Stability",
      following(["1.4", PAUSE], ["1.5", entry("pause", { deprecated: "2.0" })]),
    ),
    keeps(
      "removed by the release after that, and still listed",
      "Stability",
      following(
        ["2.4", entry("pause", { deprecated: "2.0" })],
        ["3.0", entry("pause", { deprecated: "2.0", removed: "3.0" })],
      ),
    ),
    keeps(
      "a successor named later",
      "Stability",
      following(
        ["2.0", entry("pause", { deprecated: "2.0" }), RESUME],
        ["2.1", entry("pause", { deprecated: "2.0", supersededBy: "resume" }), RESUME],
      ),
    ),
    breaks(
      "a capability disappears",
      "Stability",
      following(["1.0", PAUSE, RESUME], ["1.1", RESUME]),
      5,
    ),
    breaks(
      "a removed capability disappears",
      "Stability",
      following(["3.0", ENDED, RESUME], ["4.0", RESUME]),
      5,
    ),
    breaks(
      "introduced at another version",
      "Stability",
      following(["1.1", PAUSE], ["1.2", entry("pause", { introduced: "1.1" })]),
      5,
    ),
    breaks(
      "a capability that the one before should have had",
      "Stability",
      following(["1.1", PAUSE], ["1.2", PAUSE, RESUME]),
      5,
    ),
    breaks("an earlier version", "Stability", following(["1.1", PAUSE], ["1.0", PAUSE]), 5),
    breaks(
      "no longer deprecated",
      "Stability",
      following(["2.0", entry("pause", { deprecated: "2.0" })], ["2.1", PAUSE]),
      6,
    ),
    breaks(
      "deprecated at another version",
      "Stability",
      following(
        ["2.0", entry("pause", { deprecated: "2.0" })],
        ["3.0", entry("pause", { deprecated: "3.0" })],
      ),
      6,
    ),
    breaks(
      "deprecated after the fact",
      "Stability",
      following(["2.1", PAUSE], ["2.2", entry("pause", { deprecated: "2.0" })]),
      6,
    ),
    breaks(
      "removed after the fact",
      "Stability",
      following(
        ["3.1", entry("pause", { deprecated: "2.0" })],
        ["3.2", entry("pause", { deprecated: "2.0", removed: "3.0" })],
      ),
      6,
    ),
    breaks(
      "its removal put off",
      "Stability",
      following(["2.0", ENDED, RESUME], ["2.1", { ...ENDED, removed: "4.0" }, RESUME]),
      6,
    ),
    breaks(
      "superseded by another",
      "Stability",
      following(
        [
          "2.0",
          entry("pause", { deprecated: "2.0", supersededBy: "resume" }),
          RESUME,
          entry("rest"),
        ],
        ["2.1", entry("pause", { deprecated: "2.0", supersededBy: "rest" }), RESUME, entry("rest")],
      ),
      6,
    ),
    breaks(
      "declared becomes implicit in a minor release",
      "Stability",
      following(["1.0", PAUSE], ["1.1", entry("pause", { tier: "implicit" })]),
      7,
    ),
    breaks(
      "implicit becomes declared in a minor release",
      "Stability",
      following(["1.0", entry("pause", { tier: "implicit" })], ["1.1", PAUSE]),
      7,
    ),
    breaks(
      "a new implicit capability in a minor release",
      "Stability",
      following(["1.0", PAUSE], ["1.1", PAUSE, { ...RESUME, tier: "implicit", introduced: "1.1" }]),
      7,
    ),
    keeps(
      "a new implicit capability in a major release",
      "Stability",
      following(["1.0", PAUSE], ["2.0", PAUSE, { ...RESUME, tier: "implicit", introduced: "2.0" }]),
    ),
    keeps(
      "declared becomes implicit in a major release",
      "Stability",
      following(["1.0", PAUSE], ["2.0", entry("pause", { tier: "implicit" })]),
    ),
    breaks(
      "needs another flag in a minor release",
      "Stability",
      following(["1.0", PAUSE], ["1.1", entry("pause", { needs: "streaming" })]),
      7,
    ),
    breaks(
      "comes to propagate in a minor release",
      "Stability",
      following(["1.0", PAUSE], ["1.1", entry("pause", { propagates: true })]),
      7,
    ),
    keeps(
      "comes to propagate and to need a flag in a major release",
      "Stability",
      following(["1.0", PAUSE], ["2.0", entry("pause", { needs: "streaming", propagates: true })]),
    ),
    keeps(
      "no longer propagates or needs a flag",
      "Stability",
      following(["1.0", entry("pause", { needs: "streaming", propagates: true })], ["1.1", PAUSE]),
    ),
    breaks(
      "rules of both kinds",
      ["Stability", "AllReported"],
      following(
        ["1.0", PAUSE, RESUME],
        ["1.1", entry("pause", { tier: "implicit", deprecated: "1.1" })],
      ),
      ...([2, 5, 7] as const),
    ),
  ],
};
