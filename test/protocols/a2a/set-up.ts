import { randomUUID } from "node:crypto";
import type { SendMessageConfiguration } from "@a2a-js/sdk";
import type { Client, RequestOptions } from "@a2a-js/sdk/client";
import { onTestFinished } from "vitest";
import type { GrantedCapability } from "../../../src/agent/issuance.js";
import type { Json, JsonObject } from "../../../src/bytes/json.js";
import {
  CAPABILITY_HEADER,
  EXTENSION_URI,
  withCapability,
} from "../../../src/protocols/a2a/client/index.js";
import { startAgent, type TestAgent, type TestAgentOptions } from "../../support/a2a-agent.js";
import { authorized, type BindingName, clientOf, quietConsole, request } from "./callers.js";

// The set-up of tests over HTTP: an agent, a capability that alice holds, and requests that present the
// capability.

/** Starts an agent that is removed at the end of the test. */
export async function agentFor(options: TestAgentOptions = {}): Promise<TestAgent> {
  quietConsole();
  const agent = await startAgent(options);
  onTestFinished(() => agent.remove());
  return agent;
}

/** A capability that alice holds. `alice` is the client that requested it; `holder` is the client that presents it. */
export interface Held extends GrantedCapability {
  readonly alice: Client;
  readonly holder: Client;
}

/** Requests a capability as Alice. */
export async function held(
  agent: TestAgent,
  grant = "work:do",
  binding: BindingName = "JSON-RPC",
): Promise<Held> {
  const alice = await clientOf(agent, binding, "alice");
  const capability = await request(alice, { grants: [grant] });
  return { ...capability, alice, holder: await withCapability(alice, capability.token) };
}

/** Returns the headers with which alice presents a token. */
export function presenting(token: string): Readonly<Record<string, string>> {
  return { ...authorized("alice"), "A2A-Extensions": EXTENSION_URI, [CAPABILITY_HEADER]: token };
}

/** Returns a message with the role of the user, as JSON. */
export function userMessage(parts: Json, more: JsonObject = {}): JsonObject {
  return { messageId: randomUUID(), role: "ROLE_USER", parts, ...more };
}

/** The configuration with which the agent answers a message before the message's task has ended. */
export const AT_ONCE: SendMessageConfiguration = {
  acceptedOutputModes: [],
  historyLength: undefined,
  returnImmediately: true,
  taskPushNotificationConfig: undefined,
};

/** Options with which a client names the extension without presenting a capability. */
export const KNOWN: RequestOptions = {
  serviceParameters: { "A2A-Extensions": EXTENSION_URI },
};
