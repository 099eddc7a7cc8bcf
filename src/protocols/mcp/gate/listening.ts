import type { AgentDenials } from "../../../agent/refusal.js";
import type { Json, JsonObject } from "../../../bytes/json.js";
import { type Edit, edit } from "../message/edit.js";
import type { Message } from "../message/message.js";
import { errorAnswer, INVALID_PARAMS, resultAnswer } from "./answers.js";
import { resourceTarget } from "./call-target.js";
import { forward, restored, withoutCapability } from "./forward.js";
import type { GateParts } from "./gate-parts.js";
import type { HostRequest } from "./host-request.js";
import { OPERATIONS, serverNotificationRule } from "./methods.js";
import { refusalAnswer } from "./refusal.js";
import { cancelledText, type ServerLink } from "./server-link.js";
import { admitInputs } from "./task-requests.js";
import { listAt, objectAt, stringAt, valueAt } from "./values.js";

const ACKNOWLEDGED = "notifications/subscriptions/acknowledged";
const SUBSCRIPTION_ID = "io.modelcontextprotocol/subscriptionId";
const FILTER = ["params", "notifications"];

/** Kinds of lists, by the property of a filter that subscribes to their changes. */
const LIST_FILTERS = [
  ["toolsListChanged", "notifications/tools/list_changed"],
  ["resourcesListChanged", "notifications/resources/list_changed"],
  ["promptsListChanged", "notifications/prompts/list_changed"],
] as const;

/** The open subscriptions of the new era, which hear from the gate too when a revocation changes a list. */
export class Subscriptions {
  readonly #open = new Set<HostRequest>();

  add(request: HostRequest): void {
    this.#open.add(request);
    request.over.addEventListener("abort", () => this.#open.delete(request), { once: true });
  }

  /** Tells every subscription to a list that it may have changed. */
  async listsChanged(): Promise<void> {
    for (const { id, params, exchange } of this.#open) {
      for (const [property, method] of LIST_FILTERS) {
        if (objectAt(params, ["notifications"])?.[property] !== true) continue;
        await exchange.send(notification(method, { _meta: { [SUBSCRIPTION_ID]: id } }));
      }
    }
  }
}

/** Subscribes to what the caller may hear of: each resource and each task is judged. */
export async function runListen(
  parts: GateParts,
  subscriptions: Subscriptions,
  request: HostRequest,
): Promise<void> {
  const { presented, params, id } = request;
  if (!presented.ok) return request.answer(refusalAnswer(request, presented.denials));
  const filter = objectAt(params, ["notifications"]);
  if (filter === undefined) {
    const message = "params.notifications must be an object";
    return request.answer(errorAnswer(id, INVALID_PARAMS, message));
  }
  const judged = await judgeFilter(parts, request, filter);
  if (!judged.ok) return request.answer(judged.text);
  const { only } = parts.servers;
  if (only !== undefined) {
    await forward(request, only, {
      isEndless: true,
      notified: (heard) => pass(parts, subscriptions, request, only, heard),
      cancelled: (heard) => {
        const edits = [{ path: ["params", "requestId"], value: id }];
        return request.exchange.send(edit(heard.text, edits));
      },
      finish: async (response) => restored(request, response, subscriptionEdits(request, response)),
    });
    return;
  }
  await listenToAll(parts, subscriptions, request, judged.shares);
}

type Shares = ReadonlyMap<ServerLink, JsonObject>;

/** Judges a filter, and splits it by server. */
async function judgeFilter(
  parts: GateParts,
  request: HostRequest,
  filter: JsonObject,
): Promise<
  { readonly ok: true; readonly shares: Shares } | { readonly ok: false; readonly text: string }
> {
  const { authority, tasks, servers } = parts;
  const holder = authority.holder(request.presented);
  const uris = new Map<ServerLink, Json[]>();
  const taskIds = new Map<ServerLink, Json[]>();
  const refused = (denials: AgentDenials) =>
    ({ ok: false, text: refusalAnswer(request, denials) }) as const;
  for (const uri of listAt(filter, ["resourceSubscriptions"]) ?? []) {
    const found = await resourceTarget(parts, request, OPERATIONS.subscribe, uri);
    if (found.kind === "answer") return { ok: false, text: found.text };
    if (found.kind === "refused") return refused([found.denial]);
    const { link, call } = found.target;
    const decision = await authority.decide(request.presented, call);
    if (!decision.allowed) return refused(decision.denials);
    uris.set(link, [...(uris.get(link) ?? []), uri]);
  }
  for (const taskId of listAt(filter, ["taskIds"]) ?? []) {
    const task = tasks.find(typeof taskId === "string" ? taskId : undefined, holder);
    if (task === undefined) {
      return { ok: false, text: errorAnswer(request.id, INVALID_PARAMS, "there is no such task") };
    }
    taskIds.set(task.link, [...(taskIds.get(task.link) ?? []), taskId]);
  }
  const shares = servers.links.map((link): [ServerLink, JsonObject] => [
    link,
    {
      ...filter,
      resourceSubscriptions: uris.get(link) ?? [],
      ...(filter["taskIds"] === undefined ? {} : { taskIds: taskIds.get(link) ?? [] }),
    },
  ]);
  return { ok: true, shares: new Map(shares) };
}

/** Subscribes at every server: the subscriptions are one for the host, which ends with the last of them. */
async function listenToAll(
  parts: GateParts,
  subscriptions: Subscriptions,
  request: HostRequest,
  shares: Shares,
): Promise<void> {
  const { id, exchange, message, over, credentials } = request;
  subscriptions.add(request);
  const meta = { [SUBSCRIPTION_ID]: id };
  const acknowledged = {
    _meta: meta,
    notifications: objectAt(request.params, ["notifications"]) ?? {},
  };
  await exchange.send(notification(ACKNOWLEDGED, acknowledged));
  const open = new Set([...shares.keys()].filter((link) => !link.hasEnded));
  const close = async (link: ServerLink): Promise<void> => {
    open.delete(link);
    const closed = resultAnswer(id, { resultType: "complete", _meta: meta });
    if (open.size === 0) await request.answer(closed);
  };
  for (const link of open) {
    const gateId = link.await({
      answered: () => close(link),
      failed: () => close(link),
      notified: async (heard) => {
        if (heard.method !== ACKNOWLEDGED) await pass(parts, subscriptions, request, link, heard);
      },
      credentials,
      isEndless: true,
    });
    over.addEventListener(
      "abort",
      () => void link.cancel(gateId, cancelledText(gateId, "closed")),
      {
        once: true,
      },
    );
    const text = edit(withoutCapability(message), [
      { path: ["id"], value: gateId },
      { path: FILTER, value: shares.get(link) ?? {} },
    ]);
    await link.send(gateId, text, { era: "new" });
  }
}

/** Passes on a notification of a subscription under the host's id. */
async function pass(
  parts: GateParts,
  subscriptions: Subscriptions,
  request: HostRequest,
  link: ServerLink,
  heard: Message,
): Promise<void> {
  const { catalog, tasks, authority } = parts;
  const rule = serverNotificationRule(heard.method ?? "");
  const edits: Edit[] = [{ path: ["params", "_meta", SUBSCRIPTION_ID], value: request.id }];
  if (heard.method === ACKNOWLEDGED) {
    subscriptions.add(request);
    edits.push(...acknowledgedEdits(request));
  } else if (heard.method === "notifications/tools/list_changed") catalog.forget(link);
  else if (rule === "task") {
    const state = objectAt(heard.value, ["params"]);
    const task = tasks.find(stringAt(state, ["taskId"]), authority.holder(request.presented));
    if (task === undefined || (await admitInputs(parts, request, task, state)) !== undefined)
      return;
  } else if (rule !== "change") return;
  await request.exchange.send(edit(heard.text, edits));
}

/** Adds the changes of lists that the host has asked for: the gate itself tells of them. */
function acknowledgedEdits({ params }: HostRequest): readonly Edit[] {
  const filter = objectAt(params, ["notifications"]);
  return LIST_FILTERS.flatMap(([property]) =>
    filter?.[property] === true ? [{ path: [...FILTER, property], value: true }] : [],
  );
}

function subscriptionEdits(request: HostRequest, response: Message): readonly Edit[] {
  const path = ["result", "_meta", SUBSCRIPTION_ID];
  return valueAt(response.value, path) === undefined ? [] : [{ path, value: request.id }];
}

function notification(method: string, params: JsonObject): string {
  return JSON.stringify({ jsonrpc: "2.0", method, params });
}
