import { StreamResponse, type Task, type TaskPushNotificationConfig } from "@a2a-js/sdk";
import { PushNotificationNotSupportedError } from "@a2a-js/sdk/errors";
import type {
  PushNotificationSender,
  PushNotificationStore,
  ServerCallContext,
} from "@a2a-js/sdk/server";
import { isObject } from "../../bytes/json.js";
import { malformed, throwRefused } from "./errors.js";
import { taskIdOf } from "./repeated-messages.js";

/** Options for push notifications, which report a task's progress to a URL. */
export interface PushOptions {
  /** The store of the configurations, such as the task store's `pushConfigs`. */
  readonly store: PushNotificationStore;
  /** The only origins to which notifications may be sent, such as `https://caller.example`. */
  readonly origins: readonly string[];
}

/**
 * Refuses a URL outside the operator's origins. If an agent posted to any URL, callers could use it to reach
 * the agent's internal network.
 *
 * @throws PushNotificationNotSupportedError if the agent sends no notifications.
 * @throws Refused if the URL is not allowed.
 */
export function checkTarget(url: string, push: PushOptions | undefined): void {
  if (push === undefined) throw new PushNotificationNotSupportedError();
  if (isTarget(url, push)) return;
  const { origins } = push;
  const known = origins.length === 0 ? "nowhere" : origins.join(", ");
  throwRefused(malformed(`push notifications go only to ${known}`));
}

/** Returns whether a URL has one of the operator's origins. */
function isTarget(url: string, { origins }: PushOptions): boolean {
  return origins.includes(originOf(url));
}

function originOf(url: string): string {
  try {
    const { origin, protocol, username, password } = new URL(url);
    const plain = ["http:", "https:"].includes(protocol) && username === "" && password === "";
    return plain ? origin : "";
  } catch {
    return "";
  }
}

/** Milliseconds within which a receiver must answer. */
const TIMEOUT = 10_000;
/** Maximum number of receivers that are notified about one task. */
const MOST_RECEIVERS = 8;

const WITHDRAWN =
  "a push notification was not delivered: its receiver is not one of the origins in push.origins";

/**
 * Sends a task's progress to its receivers. Unlike the SDK's own sender, it prints no credentials and follows
 * no redirects. After a redirect, another server would get the receiver's credentials.
 */
export class PushSender implements PushNotificationSender {
  readonly #push: PushOptions;
  readonly #onFailure: (error: unknown, what: string) => void;
  /** The last pending delivery by task id. Each delivery waits for the previous delivery of its task. */
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
    const { url } = config;
    // The operator may have removed the origin since the configuration was stored.
    if (!isTarget(url, this.#push)) return this.#onFailure(new Error(WITHDRAWN), "push");
    const why = await undelivered(config, body);
    if (why === undefined) return;
    const { origin } = new URL(url);
    this.#onFailure(
      new Error(`a push notification to ${origin} was not delivered: ${why}`),
      "push",
    );
  }
}

/**
 * Posts a notification.
 *
 * @returns The reason for a failure, without any of the data sent; `undefined` after a success.
 */
async function undelivered(
  config: TaskPushNotificationConfig,
  body: string,
): Promise<string | undefined> {
  const headers = headersOf(config);
  if (headers === undefined) return "its token or credentials cannot be sent in a header";
  try {
    const signal = AbortSignal.timeout(TIMEOUT);
    const init = { method: "POST", headers, body, signal, redirect: "manual" } as const;
    const answer = await fetch(config.url, init);
    await answer.body?.cancel();
    if (answer.ok) return undefined;
    const redirected = answer.status >= 300 && answer.status < 400;
    return `the receiver answered ${answer.status}${redirected ? ", and redirects are not followed" : ""}`;
  } catch (error) {
    if (error instanceof Error && error.name === "TimeoutError") {
      return `the receiver did not answer within ${TIMEOUT / 1000} seconds`;
    }
    const cause: unknown = error instanceof Error ? error.cause : undefined;
    const code: unknown = isObject(cause) ? cause["code"] : undefined;
    return `the receiver cannot be reached (${typeof code === "string" ? code : "no connection"})`;
  }
}

/**
 * Returns the headers of a notification; `undefined` if a header cannot contain its token or credentials. New
 * configurations with such values are refused.
 */
function headersOf({ token, authentication }: TaskPushNotificationConfig): Headers | undefined {
  const headers = new Headers({ "Content-Type": "application/a2a+json" });
  try {
    if (token !== "") headers.set("X-A2A-Notification-Token", token);
    if (authentication !== undefined) {
      const { scheme, credentials } = authentication;
      headers.set("Authorization", `${scheme} ${credentials}`);
    }
  } catch {
    return undefined;
  }
  return headers;
}
