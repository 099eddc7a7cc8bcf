import { withCapability } from "../../../src/protocols/a2a/client/interceptor.js";
import { EXTENSION_URI } from "../../../src/protocols/a2a/extension.js";
import { order } from "../obedience.js";
import type { Kind } from "../tally.js";
import { dataPart, type MessageExtras, messageOf, textPart } from "../world/connection.js";
import { AGENTS, type AgentName, SERVICES, type Service } from "../world/people.js";
import type { Attacker } from "./attacker.js";
import { argumentSets, takesHandle } from "./sweep.js";

type Parts = Parameters<typeof messageOf>[0];

/** Number of handles that the attacker tries through the agent's own task. */
const OWN_HANDLES = 4;

/** Returns every order for an agent's skills, with this many handles for each skill. */
function orders(attacker: Attacker, service: Service, handles: number): readonly string[] {
  return attacker.skills(service).flatMap((skill) => {
    const named = attacker.handlesFor(service, skill, handles);
    return (takesHandle(skill) ? named : [undefined]).map((handle) => {
      const [given = {}] = argumentSets(skill, handle);
      return order(service, skill.id, given);
    });
  });
}

/** Orders other agents to act. Each agent obeys any order, with all its authority. */
export async function persuade(attacker: Attacker): Promise<void> {
  const kind: Kind = "calls hidden in text";
  for (const to of AGENTS) {
    for (const service of SERVICES) {
      const all = orders(attacker, service, 1).join("\n");
      await say(attacker, kind, to, [textPart(`Dear colleague,\n${all}\nThank you.`)], {});
    }
  }
  // Puts the same words into unexpected places.
  for (const service of SERVICES) {
    const [first = "", second = ""] = orders(attacker, service, 1);
    const skill = attacker.skills(service)[0]?.id ?? "";
    const call = dataPart({ skill, arguments: {} });
    const hidden = dataPart({ note: { deep: [first, second] } });
    await say(attacker, kind, service, [hidden], {});
    await say(attacker, kind, service, [textPart(second), call], {});
    await say(attacker, kind, service, [call], { messageMetadata: claims(attacker) });
  }
}

/** Puts tokens into the message itself, which is not the place for tokens. */
function claims(attacker: Attacker): {
  readonly [name: string]: { readonly capabilities: string[] };
} {
  const tokens = attacker.knowledge.tokens.slice(0, 4).map(({ text }) => text);
  return { [EXTENSION_URI]: { capabilities: tokens } };
}

/** Gives tokens that are bound to one agent to another agent, and itself uses tokens that are bound to others. */
export async function handOn(attacker: Attacker): Promise<void> {
  const kind: Kind = "a bound token, handed on";
  const { knowledge, leaks } = attacker;
  for (const service of SERVICES) {
    const own = knowledge.tokensOf(service).slice(0, 8);
    const tokens = own.map(({ text }) => text);
    const colleagues = SERVICES.filter((name) => name !== attacker.worker.agent);
    for (const to of colleagues.slice(attacker.turn() % 2).slice(0, 2)) {
      const all = orders(attacker, service, 1).join("\n");
      await say(attacker, kind, to, [textPart(all), dataPart({ tokens })], {});
    }
  }
  for (const token of leaks.bound) {
    knowledge.learnToken(token);
    const seen = knowledge.tokens.find(({ text }) => text === token);
    const service = SERVICES.find((name) => name === seen?.service);
    if (seen === undefined || service === undefined) continue;
    for (const skill of attacker.skills(service)) {
      for (const handle of seen.handles) {
        const [given = {}] = argumentSets(skill, handle);
        await attacker.call(kind, service, skill.id, given, [{ token }]);
      }
    }
  }
}

/** Starts tasks, at its own agent and at others, that do things which the attacker itself may not do. */
export async function spawn(attacker: Attacker): Promise<void> {
  const kind: Kind = "task spawning";
  const { agent, task } = attacker.worker;
  const wide = ["create", "delete", "forward", "list", "read", "run", "send", "update"];
  const passed = [
    ...task.delegate({ operations: wide }),
    ...task.delegate({ expires: "2099-01-01T00:00:00Z" }),
    ...task.delegate({ invokers: [attacker.worker.invoker] }),
    ...task.delegate({ purpose: "go on" }),
  ];
  for (const { token } of passed) attacker.knowledge.learnToken(token);
  // The agent's own task may call skills of the same agent only.
  for (const service of SERVICES.filter((name) => name === agent)) {
    for (const text of orders(attacker, service, OWN_HANDLES)) {
      const [, , skill = "", values = "{}"] = /^CALL (\S+) (\S+) (.*)$/.exec(text) ?? [];
      await attacker.attempt(kind, service, () => task.invoke(skill, JSON.parse(values)));
    }
  }
  for (const service of SERVICES) {
    const tokens = attacker.knowledge.tokensOf(service).map(({ text }) => text);
    for (const text of orders(attacker, service, 1)) {
      await say(attacker, kind, service, [textPart(text)], {}, tokens.slice(0, 8));
    }
  }
}

async function say(
  attacker: Attacker,
  kind: Kind,
  to: AgentName,
  parts: Parts,
  extras: MessageExtras,
  tokens: readonly string[] = attacker.knowledge
    .tokensOf(to)
    .slice(0, 8)
    .map(({ text }) => text),
): Promise<void> {
  for (const connection of attacker.connections(to)) {
    await attacker.attempt(kind, to, async () => {
      const plain = await connection.client();
      const client = tokens.length === 0 ? plain : await withCapability(plain, tokens);
      return client.sendMessage(messageOf(parts, extras));
    });
  }
}
