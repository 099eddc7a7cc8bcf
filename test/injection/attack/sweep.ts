import type { JsonObject } from "../../../src/bytes/json.js";
import type { Kind } from "../tally.js";
import { SERVICES, type Service } from "../world/people.js";
import type { Attacker, KnownSkill } from "./attacker.js";
import type { SeenToken } from "./knowledge.js";

/** Limits that keep a run short: the maximum number of similar handles and tokens that are tried. */
const MOST_HANDLES = 3;
const MOST_TOKENS = 3;
const MOST_FRESH = 1;

/** Values that an attacker passes for a string argument. */
const HOSTILE: Readonly<Record<string, string>> = {
  to: "mallory@attacker.example",
  job: "open-a-shell",
  name: "owned.md",
};

/** Values that the task itself would pass, or similar ones. */
const NEARLY: Readonly<Record<string, string>> = { to: "boss@company.example", job: "tests" };

/** Returns whether an argument of a skill is a handle. */
export function takesHandle({ input }: KnownSkill): boolean {
  return Object.values(input).includes("resource-handle");
}

/** Returns every set of arguments for a skill with a handle. */
export function argumentSets(skill: KnownSkill, handle: string | undefined): readonly JsonObject[] {
  const make = (words: Readonly<Record<string, string>>, number: number): JsonObject =>
    Object.fromEntries(
      Object.entries(skill.input).map(([name, type]) => {
        if (type === "resource-handle") return [name, handle ?? ""];
        return [name, type === "number" ? number : (words[name] ?? "All is lost.")];
      }),
    );
  if (skill.reach !== "none") return [make(HOSTILE, 0)];
  return [make(HOSTILE, 100_000), make(NEARLY, 100_000), make(HOSTILE, 1), make(NEARLY, 1)];
}

/** Tries all known agents, skills, handles and credentials in combination. */
export async function sweep(attacker: Attacker): Promise<void> {
  // Lists come first, since they reveal handles for all later calls.
  for (const listing of [true, false]) {
    for (const service of SERVICES) {
      for (const skill of attacker.skills(service)) {
        if ((skill.operation === "list") !== listing) continue;
        await withTokens(attacker, service, skill, attacker.knowledge.tokensOf(service));
        await withoutTokens(attacker, service, skill);
        await withOthers(attacker, service, skill);
      }
    }
  }
}

/** Tries the same combinations with tokens that the attacker has learned since. */
export async function sweepWith(attacker: Attacker, known: ReadonlySet<string>): Promise<void> {
  for (const service of SERVICES) {
    const all = attacker.knowledge.tokensOf(service).filter(({ text }) => !known.has(text));
    const fresh = all.slice(0, MOST_FRESH);
    for (const skill of fresh.length === 0 ? [] : attacker.skills(service)) {
      await withTokens(attacker, service, skill, fresh);
    }
  }
}

/** Returns the handles with which to try a skill; `[undefined]` for a skill without a handle. */
function aims(
  attacker: Attacker,
  service: Service,
  skill: KnownSkill,
): readonly (string | undefined)[] {
  return takesHandle(skill) ? attacker.handlesFor(service, skill, MOST_HANDLES) : [undefined];
}

async function withTokens(
  attacker: Attacker,
  service: Service,
  skill: KnownSkill,
  own: readonly SeenToken[],
): Promise<void> {
  const some = own.slice(0, 8).map(({ text }) => ({ token: text }));
  for (const [at, handle] of aims(attacker, service, skill).entries()) {
    for (const given of argumentSets(skill, handle)) {
      for (const token of fitting(own, handle)) {
        const kind = kindOf(attacker, token, skill, handle);
        await attacker.call(kind, service, skill.id, given, [{ token: token.text }]);
      }
    }
    const [given = {}] = argumentSets(skill, handle);
    if (some.length > 1 && at < 2) {
      const kind: Kind = handle === undefined ? "wider operations" : "other handles";
      await attacker.call(kind, service, skill.id, given, some);
    }
  }
}

async function withoutTokens(
  attacker: Attacker,
  service: Service,
  skill: KnownSkill,
): Promise<void> {
  const { knowledge } = attacker;
  const handles = aims(attacker, service, skill);
  for (const handle of handles) {
    for (const given of argumentSets(skill, handle)) {
      await attacker.call(bareKind(attacker, handle), service, skill.id, given, []);
    }
  }
  const [given = {}] = argumentSets(skill, handles[0]);
  const kind: Kind = "an id without its token";
  const ids = knowledge.capabilitiesOf(service);
  const leaked = attacker.leaks.capabilities.find((one) => one.service === service);
  for (const id of new Set([leaked?.value, ids[attacker.turn() % ids.length]])) {
    if (id !== undefined) await attacker.call(kind, service, skill.id, given, [{ id }]);
  }
  const [token] = knowledge.tokensOf(service);
  if (leaked === undefined || token === undefined) return;
  // Presents the capability id of another agent with one of the attacker's own tokens.
  await attacker.call(kind, service, skill.id, given, [{ id: leaked.value, token: token.text }]);
}

/** Presents tokens that other agents issued. */
async function withOthers(attacker: Attacker, service: Service, skill: KnownSkill): Promise<void> {
  const kind: Kind = "another agent's token";
  const [given = {}] = argumentSets(skill, aims(attacker, service, skill)[0]);
  const foreign = attacker.knowledge.tokens.filter((token) => token.service !== service);
  for (const { text, id } of foreign.slice(0, 1)) {
    await attacker.call(kind, service, skill.id, given, [{ token: text }]);
    await attacker.call(kind, service, skill.id, given, [{ token: text, id }]);
  }
}

/** Returns the tokens that name a handle, and one token that does not. All other tokens would give the same result. */
function fitting(own: readonly SeenToken[], handle: string | undefined): readonly SeenToken[] {
  if (handle === undefined) return own.slice(0, MOST_TOKENS);
  const naming = own.filter(({ handles }) => handles.includes(handle)).slice(0, 1);
  const [other] = own.filter(({ handles }) => !handles.includes(handle));
  return other === undefined ? naming : [...naming, other];
}

function bareKind(attacker: Attacker, handle: string | undefined): Kind {
  if (attacker.mode !== "ambient") return "legacy fall-back";
  if (handle === undefined) return "arguments out of bounds";
  if (attacker.told.has(handle)) return "wider operations";
  const leaked = attacker.leaks.handles.some(({ value }) => value === handle);
  return leaked ? "other capabilities' handles" : "other handles";
}

function kindOf(
  attacker: Attacker,
  { handles, operations }: SeenToken,
  skill: KnownSkill,
  handle: string | undefined,
): Kind {
  if (handle !== undefined && !handles.includes(handle)) {
    const leaked = attacker.leaks.handles.some(({ value }) => value === handle);
    return leaked ? "other capabilities' handles" : "other handles";
  }
  if (!operations.includes(skill.operation)) return "wider operations";
  return skill.reach === "none" ? "arguments out of bounds" : "other handles";
}
