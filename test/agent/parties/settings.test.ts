import { expect, test } from "vitest";
import type { KnownGrant } from "../../../src/agent/grant.js";
import { createParties } from "../../../src/agent/parties/create-parties.js";
import type { PartySettings } from "../../../src/agent/parties/settings.js";
import type { PartyStore } from "../../../src/agent/parties/store.js";
import { capabilityTerms } from "../../../src/agent/parties/terms.js";
import type { Skill } from "../../../src/agent/skill.js";
import { RevocationList } from "../../../src/revocation/list.js";
import { misuse } from "../support.js";

const store: PartyStore = {
  read: () => Promise.reject(new Error("not read")),
  change: () => Promise.reject(new Error("not changed")),
  useOnce: async () => "used",
  prune: async () => 0,
};

function skill(id: string, more: Partial<Skill> = {}): Skill {
  const about = { name: id, description: id, operation: id, reach: "none" } as const;
  return { id, ...about, input: { type: "object" }, run: async () => null, ...more };
}

function grant(id: string, operations: readonly string[], legacy = false): KnownGrant {
  return { id, description: id, operations, attenuable: true, legacy, requires: [] };
}

const SKILLS = [
  skill("look", { effect: "read" }),
  skill("pay", { effect: "write" }),
  skill("odd"),
  skill("old", { effect: "read" }),
];
const GRANTS = [grant("all", ["look", "pay", "odd"]), grant("legacy", ["look", "old"], true)];
const terms = capabilityTerms(GRANTS, SKILLS);

const made = (settings: PartySettings) =>
  misuse(() => createParties({ store, revocations: new RevocationList(), terms, settings }));

test.each([
  [{ defaults: ["look"] }, "accepted"],
  [
    { defaults: ["loook"] },
    'settings.defaults[0]: there is no capability "loook"; did you mean "look"?',
  ],
  [
    { defaults: ["look", "pay"] },
    'settings.defaults[1]: "pay" may write, and every agent of a linked host',
  ],
  [{ defaults: ["odd"] }, 'settings.defaults[0]: "odd" may write'],
  [{ defaults: ["old"] }, 'settings.defaults[0]: "old" is legacy'],
  [{ defaults: ["pay", "odd", "old"], allowedDefaults: ["pay", "odd", "old"] }, "accepted"],
  [{ allowedDefaults: ["x"] }, "settings.allowedDefaults[0]: there is no capability"],
  [{ default: ["look"] }, 'settings.default: unknown property; did you mean "defaults"?'],
  [{ tenant: "" }, "settings.tenant: must be a non-empty string"],
  [{ modes: [] }, "settings.modes: must be"],
  [{ modes: ["other"] }, "settings.modes: must be"],
  [{ allowHosts: "yes" }, "settings.allowHosts: must be a boolean"],
  [{ approval: { needed: 2 } }, "settings.approval.needed: must be a whole number from 1 to 1"],
  [{ approval: { approvers: ["a", "a"] } }, "settings.approval.approvers: must be"],
  [{ lifetimes: { agent: 0 } }, "settings.lifetimes.agent: must be a whole number"],
  [
    { lifetimes: { agents: 1 } },
    'settings.lifetimes.agents: unknown property; did you mean "agent"?',
  ],
  [{ bounds: { agentsPerHost: 1.5 } }, "settings.bounds.agentsPerHost: must be"],
  [{ constraints: { pay: { amount: { maximum: 5 } } } }, "settings.constraints.pay: "],
  [
    { constraints: { none: { amount: 5 } } },
    'settings.constraints.none: there is no capability "none"',
  ],
])("the settings %j of createParties have the result: %s", (settings, message) => {
  expect(made(settings as PartySettings)).toContain(message);
});

test("capabilityTerms takes a capability's terms from its skill and from the one grant with its operation", () => {
  // A legacy grant counts only if no other grant has the operation.
  expect(terms.get("look")).toMatchObject({ grant: "all", operation: "look", legacy: false });
  expect(terms.get("old")).toMatchObject({ grant: "legacy", legacy: true });
  expect(terms.get("odd")).toMatchObject({ effect: "write" });
  const two = [...GRANTS, grant("more", ["pay"])];
  const skills = [...SKILLS, skill("Bad-Name"), skill("none")];
  const message = misuse(() => capabilityTerms(two, skills, { x: "https://a", look: "ftp://a" }));
  expect(message.split("; ")).toEqual([
    'skill "pay": its operation "pay" is in several grants: all, more',
    `skill "Bad-Name": a capability's name has a to z, 0 to 9 and "_" alone`,
    'skill "Bad-Name": its operation "Bad-Name" is in no grant',
    'skill "none": its operation "none" is in no grant',
    'location of "x": there is no such skill',
    'location of "look": must be an http or https URL that can be an audience',
  ]);
});
