import { StreamResponse, type Task, type TaskPushNotificationConfig } from "@a2a-js/sdk";
import type { PushNotificationSender, ServerCallContext } from "@a2a-js/sdk/server";
import { isTarget, type PushOptions } from "./push-target.js";
import { taskIdOf } from "./repeats.js";

/** Milliseconds that a receiver has. */
const TIMEOUT = 10_000;
/** Configurations of one task that are sent to. */
const MOST_RECEIVERS = 8;

const WITHDRAWN =
  "a push notification was not delivered: its receiver is not one of the origins in push.origins";

/**
 * Sends a task's progress to its receivers. Unlike the SDK's own sender it follows no redirect, with the
 * receiver's credentials, to another address, and puts none of them into a console.
 */
export class PushSender implements PushNotificationSender {
  readonly #push: PushOptions;
  readonly #onFailure: (error: unknown, what: string) => void;
  /** By task: what is sent next waits for what was sent before. */
  readonly #sending = new Map<string, Promise<void>>();

  /** @param onFailure - Called when a delivery fails. */
  constructor(push: PushOptions, onFailure: (error: unknown, what: string) => void) {
    this.#push = push;
    this.#onFailure = onFailure;
  }

  async send(progress: StreamResponse, context: ServerCallContext, task?: Task): Promise<void> {
    const id = taskIdOf(progress) || (task?.id ?? "");
    if (id === "") return;
    const configs = await this.#configs(id, context);
    if (configs.length === 0) return;
    const body = JSON.stringify(StreamResponse.toJSON(progress));
    const before = this.#sending.get(id) ?? Promise.resolve();
    const sent = before.then(async () => {
      await Promise.all(configs.map((config) => this.#post(config, body)));
    });
    this.#sending.set(id, sent);
    sent.finally(() => {
      if (this.#sending.get(id) === sent) this.#sending.delete(id);
    });
  }

  async #configs(
    id: string,
    context: ServerCallContext,
  ): Promise<readonly TaskPushNotificationConfig[]> {
    const { store } = this.#push;
    const stored = await store.loadWithMetadata?.(id, context);
    const configs = stored?.map(({ config }) => config) ?? (await store.load(id, context));
    return configs.slice(0, MOST_RECEIVERS);
  }

  async #post(config: TaskPushNotificationConfig, body: string): Promise<void> {
    const { url, token, authentication } = config;
    // The operator may have withdrawn its origin since it was stored.
    if (!isTarget(url, this.#push)) return this.#onFailure(new Error(WITHDRAWN), "push");
    try {
      const headers = new Headers({ "Content-Type": "application/a2a+json" });
      if (token !== "") headers.set("X-A2A-Notification-Token", token);
      if (authentication !== undefined) {
        const { scheme, credentials } = authentication;
        headers.set("Authorization", `${scheme} ${credentials}`);
      }
      const signal = AbortSignal.timeout(TIMEOUT);
      const answer = await fetch(url, { method: "POST", headers, body, signal, redirect: "error" });
      await answer.body?.cancel();
      if (!answer.ok) throw new Error(`a receiver answered ${answer.status}`);
    } catch (error) {
      // Its message may quote what was to be sent.
      const name = error instanceof Error ? error.name : "unknown";
      this.#onFailure(new Error(`a push notification was not delivered (${name})`), "push");
    }
  }
}
