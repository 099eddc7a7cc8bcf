import type { JsonObject } from "../../../bytes/json.js";
import type { GateAuthority } from "../authority/gate-authority.js";
import { type Edit, edit } from "../message/edit.js";
import { type Message, resultText } from "../message/message.js";
import { objectAt, stringAt, valueAt } from "../message/values.js";
import { forward, restored } from "./forward.js";
import type { GateParts } from "./gate-parts.js";
import { type HostRequest, type OpenRequest, withoutBody } from "./host-request.js";
import { OPERATIONS, SUBSCRIPTION_ID, serverNotificationRule } from "./methods.js";
import { isInForce } from "./presented-tokens.js";
import { cancelledText, type ServerLink } from "./server-link.js";
import { type JudgedFilter, judgeFilter, LIST_FILTERS } from "./subscription-filter.js";
import { admitInputs } from "./task-requests.js";

const ACKNOWLEDGED = "notifications/subscriptions/acknowledged";
const FILTER = ["params", "notifications"];

type AllowedFilter = Extract<JudgedFilter, { ok: true }>;

/** A subscription of a host, at one server or at all servers. */
interface Subscription {
  readonly request: OpenRequest;
  /** The lists whose changes the host subscribes to. */
  readonly lists: readonly (typeof LIST_FILTERS)[number][];
  /** The operations that the tokens must allow for the subscription to stay open; none for lists only. */
  readonly operations: readonly string[];
  /** `true` once the host has received the acknowledgement, which must be the first message of the subscription. */
  isAcknowledged: boolean;
}

/** Milliseconds between two checks of a subscription's tokens: the minimum, and the maximum that a timer allows. */
const SHORTEST = 100;
const LONGEST = 2 ** 31 - 1;

/**
 * The open subscriptions of the new era. A subscription ends when its tokens expire, are revoked or no longer allow it.
 * The exception is a subscription to lists under the gate's own token: it stays open, so that the host is notified when
 * the user replaces the token.
 */
export class Subscriptions {
  readonly #authority: GateAuthority;
  readonly #open = new Set<Subscription>();

  constructor(authority: GateAuthority) {
    this.#authority = authority;
  }

  add(subscription: Subscription): void {
    const { over } = subscription.request;
    this.#open.add(subscription);
    over.addEventListener("abort", () => this.#open.delete(subscription), { once: true });
    if (!needsNoToken(subscription)) this.#endWhenExpired(subscription);
  }

  /**
   * Ends subscriptions that the tokens no longer allow. Notifies the remaining subscriptions that lists may have
   * changed.
   *
   * @param methods - The notifications of these changes, such as `notifications/tools/list_changed`.
   */
  async listsChanged(methods: readonly string[]): Promise<void> {
    for (const subscription of [...this.#open]) {
      if (!(await this.keeps(subscription))) continue;
      const { request, lists, isAcknowledged } = subscription;
      if (!isAcknowledged) continue;
      for (const [, method] of lists) {
        if (methods.includes(method)) await request.exchange.send(notification(method, request.id));
      }
    }
  }

  /**
   * Ends a subscription unless its tokens are in force and still allow it.
   *
   * @returns `true` if the subscription stays open.
   */
  async keeps(subscription: Subscription): Promise<boolean> {
    if (needsNoToken(subscription)) return true;
    const { request, operations } = subscription;
    const presented = this.#authority.present(request.credentials);
    const isAllowed = operations.every((one) => this.#authority.holds(presented, one));
    if (isAllowed && (await isInForce(this.#authority, presented))) return true;
    await request.answer(closing(request.id));
    return false;
  }

  #endWhenExpired(subscription: Subscription): void {
    const { over, presented } = subscription.request;
    const left = (this.#authority.expiresAt(presented) ?? 0) - Date.now();
    const wait = Math.min(Math.max(left, SHORTEST), LONGEST);
    const timer = setTimeout(async () => {
      if (await this.keeps(subscription)) this.#endWhenExpired(subscription);
    }, wait).unref();
    over.addEventListener("abort", () => clearTimeout(timer), { once: true });
  }
}

/** Returns whether a subscription is to lists only, and was opened with the gate's own token alone. */
function needsNoToken({ request, operations }: Subscription): boolean {
  return operations.length === 0 && request.credentials.length === 0;
}

/** Opens a subscription if the tokens allow everything in its filter. */
export async function runListen(
  parts: GateParts,
  subscriptions: Subscriptions,
  request: HostRequest,
): Promise<void> {
  const judged = await judgeFilter(parts, request);
  if (!judged.ok) return request.answer(judged.answer);
  const subscription: Subscription = {
    request: withoutBody(request),
    lists: LIST_FILTERS.filter(([property]) => judged.filter[property] === true),
    operations: judged.operations,
    isAcknowledged: false,
  };
  subscriptions.add(subscription);
  const { only } = parts.servers;
  if (only === undefined)
    return listenToAll(parts, subscriptions, subscription, request.message, judged);
  await forward(request, only, {
    isEndless: true,
    notified: async (heard) => {
      if (heard.method === ACKNOWLEDGED) subscription.isAcknowledged = true;
      if (await subscriptions.keeps(subscription)) await pass(parts, subscription, only, heard);
    },
    cancelled: (heard) => {
      const { id, exchange } = subscription.request;
      return exchange.send(edit(heard.text, [{ path: ["params", "requestId"], value: id }]));
    },
    finish: async (opened, response) => restored(opened, response, closingEdits(opened, response)),
  });
}

/**
 * Subscribes at every server. The host sees one subscription, which ends when the last of the servers' subscriptions
 * ends.
 */
async function listenToAll(
  parts: GateParts,
  subscriptions: Subscriptions,
  subscription: Subscription,
  message: Message,
  { filter, shares }: AllowedFilter,
): Promise<void> {
  const { request } = subscription;
  const { id, exchange, over, credentials } = request;
  subscription.isAcknowledged = true;
  await exchange.send(notification(ACKNOWLEDGED, id, { notifications: filter }));
  const open = new Set([...shares.keys()].filter((link) => !link.hasEnded));
  const close = async (link: ServerLink): Promise<void> => {
    open.delete(link);
    if (open.size === 0) await request.answer(closing(id));
  };
  for (const link of [...open]) {
    const gateId = link.expectAnswer({
      answered: () => close(link),
      failed: () => close(link),
      notified: async (heard) => {
        if (heard.method === ACKNOWLEDGED || !(await subscriptions.keeps(subscription))) return;
        await pass(parts, subscription, link, heard);
      },
      credentials,
      isEndless: true,
    });
    const cancel = () => void link.cancel(gateId, cancelledText(gateId, "closed"));
    over.addEventListener("abort", cancel, { once: true });
    const text = edit(message.text, [
      { path: ["id"], value: gateId },
      { path: FILTER, value: shares.get(link) ?? {} },
    ]);
    await link.send(gateId, text, { era: "new" });
  }
}

/** Passes on a notification of a subscription, with the host's id as the subscription id. */
async function pass(
  parts: GateParts,
  { request, lists, operations }: Subscription,
  link: ServerLink,
  heard: Message,
): Promise<void> {
  const { catalog, tasks, authority, servers } = parts;
  const rule = serverNotificationRule(heard.method ?? "");
  if (rule === "task") {
    const state = objectAt(heard.value, ["params"]);
    const task = tasks.find(stringAt(state, ["taskId"]), authority.holder(request.presented));
    if (task === undefined || !authority.holds(request.presented, task.operation)) return;
    const denials = await admitInputs(parts, request, task, state);
    if (denials !== undefined) return;
  } else if (rule !== "change") return;
  // A server may send this notification to hosts that have not subscribed to any of its resources.
  const subscribes = operations.includes(servers.operation(link, OPERATIONS.subscribe));
  if (heard.method === "notifications/resources/updated" && !subscribes) return;
  if (heard.method === "notifications/tools/list_changed") catalog.forget(link);
  const edits: Edit[] = [{ path: ["params", "_meta", SUBSCRIPTION_ID], value: request.id }];
  if (heard.method === ACKNOWLEDGED) edits.push(...acknowledgedEdits(lists));
  await request.exchange.send(edit(heard.text, edits));
}

/**
 * Returns edits that acknowledge the subscription to the changes of lists, even if the server does not: the gate itself
 * notifies the host of such changes.
 */
function acknowledgedEdits(lists: Subscription["lists"]): readonly Edit[] {
  return lists.map(([property]) => ({ path: [...FILTER, property], value: true }));
}

function closingEdits(request: OpenRequest, response: Message): readonly Edit[] {
  const path = ["result", "_meta", SUBSCRIPTION_ID];
  return valueAt(response.value, path) === undefined ? [] : [{ path, value: request.id }];
}

/** Returns the answer that ends a subscription. */
function closing(id: string | number): string {
  return resultText(id, { resultType: "complete", _meta: { [SUBSCRIPTION_ID]: id } });
}

function notification(method: string, id: string | number, params: JsonObject = {}): string {
  const _meta = { [SUBSCRIPTION_ID]: id };
  return JSON.stringify({ jsonrpc: "2.0", method, params: { ...params, _meta } });
}
