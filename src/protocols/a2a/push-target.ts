import { PushNotificationNotSupportedError } from "@a2a-js/sdk/errors";
import type { PushNotificationStore } from "@a2a-js/sdk/server";
import { malformed, throwRefused } from "./errors.js";

/** Where an agent may send a task's progress. */
export interface PushOptions {
  /** Where the configurations are kept, such as the task store's `pushConfigs`. */
  readonly store: PushNotificationStore;
  /** Origins that may be posted to, such as `https://caller.example`. */
  readonly origins: readonly string[];
}

/**
 * Refuses an address outside the operator's origins: an agent that would post to any address is a way
 * into its own network.
 *
 * @throws Refused
 */
export function checkTarget(url: string, push: PushOptions | undefined): void {
  if (push === undefined) throw new PushNotificationNotSupportedError();
  if (isTarget(url, push)) return;
  const { origins } = push;
  const known = origins.length === 0 ? "nowhere" : origins.join(", ");
  throwRefused(malformed(`push notifications go only to ${known}`));
}

/** Whether an address is of the operator's origins. */
export function isTarget(url: string, { origins }: PushOptions): boolean {
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
