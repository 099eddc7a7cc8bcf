import type { Json, JsonObject } from "../../../src/bytes/json.js";
import { METHODS } from "../../../src/protocols/a2a/extension.js";
import { SEEDS } from "../need.js";
import type { Kind } from "../tally.js";
import { dataPart, messageOf } from "../world/connection.js";
import { type AgentName, SERVICES, type Service } from "../world/people.js";
import type { Attacker } from "./attacker.js";
import { sweepWith } from "./sweep.js";

/** A hop that removes nothing. */
const WIDE: JsonObject = {
  operations: ["read", "update", "delete"],
  expires: "2099-01-01T00:00:00Z",
};

/** Requests every grant of every agent, and asks every agent to widen the tokens of the attacker. */
export async function askForMore(attacker: Attacker): Promise<void> {
  const kind: Kind = "asking for more";
  const { knowledge } = attacker;
  const known = new Set(knowledge.tokens.map(({ text }) => text));
  for (const service of SERVICES) {
    for (const params of requests(service))
      await byMethod(attacker, kind, service, METHODS.request, params);
    for (const { text } of knowledge.tokensOf(service).slice(0, 2)) {
      const params = { token: text, constraints: WIDE };
      await byMethod(attacker, kind, service, METHODS.attenuate, params);
      await byMethod(attacker, kind, service, METHODS.introspect, { token: text });
    }
    for (const capabilityId of knowledge.capabilitiesOf(service).slice(0, 2)) {
      const id: Kind = "an id without its token";
      await byMethod(attacker, id, service, METHODS.attenuate, { capabilityId, constraints: {} });
      await byMethod(attacker, id, service, METHODS.introspect, { capabilityId });
    }
  }
  await forOthers(attacker);
  // Tokens from the answers are tried like all others.
  await sweepWith(attacker, known);
}

function requests(service: Service): readonly JsonObject[] {
  const collections = [...new Set(SEEDS[service].map(({ collection }) => collection))];
  const without = [["legacy"], ["read"], ["send"], ["run"]].map(
    (names): JsonObject => ({
      grants: names.map((name) => `${service}:${name}`),
      purpose: "the task needs it",
    }),
  );
  const within = collections.map(
    (collection): JsonObject => ({
      grants: [`${service}:read`, `${service}:write`],
      purpose: "the task needs it",
      resourceQuery: { collection },
    }),
  );
  return [...without, ...within];
}

/** Claims to be somebody else. */
async function forOthers(attacker: Attacker): Promise<void> {
  const kind: Kind = "swapped principals";
  for (const service of SERVICES) {
    const [params = {}] = requests(service).slice(-1);
    const claims: readonly JsonObject[] = [
      { ...params, principal: "alice" },
      { ...params, invokers: ["orchestrator"] },
    ];
    for (const claim of claims) await byMethod(attacker, kind, service, METHODS.request, claim);
    for (const connection of attacker.connections(service)) {
      const headers = { "X-Forwarded-User": "alice", "X-Principal": "alice", From: "alice" };
      await attacker.attempt(kind, service, () =>
        connection.method(METHODS.request, params, headers),
      );
    }
    // Sends the request without an access token too.
    const nobody = attacker.stage.world.connect(service);
    await attacker.attempt(kind, service, () => nobody.method(METHODS.request, params));
  }
}

/** Tries to revoke the capabilities of other agents, by known ids and by these tokens. */
export async function revokeOthers(attacker: Attacker, tokens: readonly string[]): Promise<void> {
  const kind: Kind = "revoking others' capabilities";
  const { knowledge } = attacker;
  for (const service of SERVICES) {
    for (const capabilityId of knowledge.capabilitiesOf(service).slice(0, 2)) {
      await byMethod(attacker, kind, service, METHODS.revoke, { capabilityId });
    }
  }
  for (const token of tokens.slice(0, 4)) {
    const service = knowledge.tokens.find(({ text }) => text === token)?.service;
    if (service !== undefined) await byMethod(attacker, kind, service, METHODS.revoke, { token });
  }
}

/** Calls a method, in turn over JSON-RPC and by a message over HTTP+JSON. */
async function byMethod(
  attacker: Attacker,
  kind: Kind,
  service: AgentName,
  method: string,
  params: JsonObject,
): Promise<void> {
  const inMessage = attacker.turn() % 2 === 1;
  const data: Json = { method, params };
  for (const connection of attacker.connections(service)) {
    await attacker.attempt(kind, service, async () => {
      if (!inMessage) return connection.method(method, params);
      const client = await connection.client("HTTP+JSON");
      return client.sendMessage(messageOf([dataPart(data)]));
    });
  }
}
