import type { Kind } from "../tally.js";
import { SERVICES } from "../world/people.js";
import type { Attacker } from "./attacker.js";
import { forge } from "./forge.js";
import { askForMore, revokeOthers } from "./methods.js";
import { argumentSets, sweep, takesHandle } from "./sweep.js";
import { meddle } from "./tasks.js";
import { handOn, persuade, spawn } from "./words.js";

const MOST_HANDLES = 2;

/** Tries every attack while the task is in progress. */
export async function attack(attacker: Attacker): Promise<void> {
  await attacker.look();
  await sweep(attacker);
  await forge(attacker);
  await askForMore(attacker);
  await persuade(attacker);
  await spawn(attacker);
  await handOn(attacker);
  await meddle(attacker);
  await revokeOthers(attacker, []);
}

/** Repeats calls with all known tokens and handles, after the task is done. */
export async function replay(attacker: Attacker, kind: Kind): Promise<void> {
  const { knowledge } = attacker;
  for (const service of SERVICES) {
    for (const skill of attacker.skills(service)) {
      const named = attacker.handlesFor(service, skill, MOST_HANDLES);
      const handles = takesHandle(skill) ? named : [undefined];
      for (const handle of handles) {
        const [given = {}] = argumentSets(skill, handle);
        await attacker.call(kind, service, skill.id, given, []);
        const tokens = knowledge
          .tokensOf(service)
          .filter((token) => handle === undefined || token.handles.includes(handle));
        const fitting = tokens.filter(({ operations }) => operations.includes(skill.operation));
        for (const { text } of fitting.slice(0, 1)) {
          await attacker.call(kind, service, skill.id, given, [{ token: text }]);
        }
      }
    }
  }
}

/** Revokes the tokens that the agent was handed, because other agents rely on them. Runs last. */
export async function sabotage(attacker: Attacker): Promise<void> {
  const handed = attacker.worker.handed.flatMap(({ tokens }) => tokens);
  await revokeOthers(attacker, [...new Set(handed)]);
}
