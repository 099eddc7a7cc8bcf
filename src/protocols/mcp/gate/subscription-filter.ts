import type { AgentDenials } from "../../../agent/refusal.js";
import { isTexts, type JsonObject } from "../../../bytes/json.js";
import { INVALID_PARAMS } from "../message/error-codes.js";
import { errorText } from "../message/message.js";
import { objectAt } from "../message/values.js";
import { resourceTarget } from "./call-target.js";
import type { GateParts } from "./gate-parts.js";
import type { HostRequest } from "./host-request.js";
import { OPERATIONS } from "./methods.js";
import { refusalAnswer } from "./refusal.js";
import type { ServerLink } from "./server-link.js";

/** Properties of a filter that subscribe to changes of a list, each with the notification of such a change. */
export const LIST_FILTERS = [
  ["toolsListChanged", "notifications/tools/list_changed"],
  ["resourcesListChanged", "notifications/resources/list_changed"],
  ["promptsListChanged", "notifications/prompts/list_changed"],
] as const;

/** Maximum number of resources and tasks in one filter. The gate judges each of them. */
const MOST_LISTED = 1000;

/** An allowed filter, or the answer that refuses the subscription. */
export type JudgedFilter =
  | {
      readonly ok: true;
      readonly filter: JsonObject;
      /** The part of the filter for each server. */
      readonly shares: ReadonlyMap<ServerLink, JsonObject>;
      /** The operations that the tokens must allow for the subscription to stay open. */
      readonly operations: readonly string[];
    }
  | { readonly ok: false; readonly answer: string };

/** Judges each resource and each task of a `subscriptions/listen`, and splits the filter by server. */
export async function judgeFilter(parts: GateParts, request: HostRequest): Promise<JudgedFilter> {
  const { authority, tasks, servers } = parts;
  const { presented, params, id } = request;
  const refused = (denials: AgentDenials) =>
    ({ ok: false, answer: refusalAnswer(request, denials) }) as const;
  const invalid = (message: string) =>
    ({ ok: false, answer: errorText(id, INVALID_PARAMS, message) }) as const;
  if (!presented.ok) return refused(presented.denials);
  const filter = objectAt(params, ["notifications"]);
  if (filter === undefined || !isFilter(filter)) {
    return invalid("params.notifications must have the properties of the protocol, and no other");
  }
  const listed = ["resourceSubscriptions", "taskIds"].map((name) => textsAt(filter, name).length);
  if (listed.reduce((sum, count) => sum + count, 0) > MOST_LISTED) {
    return invalid(`a subscription may name at most ${MOST_LISTED} resources and tasks`);
  }
  const uris = new Listed();
  for (const uri of textsAt(filter, "resourceSubscriptions")) {
    const found = await resourceTarget(parts, request, OPERATIONS.subscribe, uri);
    if (found.kind === "answer") return { ok: false, answer: found.text };
    if (found.kind === "refused") return refused([found.denial]);
    const { link, call } = found.target;
    const decision = await authority.decide(presented, call);
    if (!decision.allowed) return refused(decision.denials);
    uris.add(link, uri);
  }
  const taskIds = new Listed();
  const ofTasks: string[] = [];
  for (const taskId of textsAt(filter, "taskIds")) {
    const task = tasks.find(taskId, authority.holder(presented));
    if (task === undefined) return invalid("there is no such task");
    taskIds.add(task.link, taskId);
    ofTasks.push(task.operation);
  }
  // A subscription to lists needs no operation, but tokens in the request must be in force. The gate's own token is not
  // checked, because the user may replace it while the subscription is open.
  const denials = request.credentials.length > 0 ? await authority.standing(presented) : undefined;
  if (denials !== undefined) return refused(denials);
  const shares = servers.links.map((link): [ServerLink, JsonObject] => [
    link,
    { ...filter, resourceSubscriptions: uris.of(link), taskIds: taskIds.of(link) },
  ]);
  const ofResources = uris.links.map((link) => servers.operation(link, OPERATIONS.subscribe));
  const operations = [...new Set([...ofResources, ...ofTasks])];
  return { ok: true, filter, shares: new Map(shares), operations };
}

/**
 * Returns whether a filter has only known properties. A server could read an unknown property as a subscription that
 * the gate has not judged.
 */
function isFilter(filter: JsonObject): boolean {
  const lists: readonly string[] = LIST_FILTERS.map(([property]) => property);
  return Object.entries(filter).every(([name, value]) =>
    lists.includes(name)
      ? typeof value === "boolean"
      : (name === "resourceSubscriptions" || name === "taskIds") && isTexts(value),
  );
}

function textsAt(filter: JsonObject, name: string): readonly string[] {
  const texts = filter[name];
  return isTexts(texts) ? texts : [];
}

/** Collects strings, such as URIs, by server. */
class Listed {
  readonly #texts = new Map<ServerLink, string[]>();

  get links(): readonly ServerLink[] {
    return [...this.#texts.keys()];
  }

  add(link: ServerLink, text: string): void {
    this.#texts.set(link, [...this.of(link), text]);
  }

  of(link: ServerLink): readonly string[] {
    return this.#texts.get(link) ?? [];
  }
}
