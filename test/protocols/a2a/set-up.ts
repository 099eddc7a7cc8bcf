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

// What tests over HTTP begin with: an agent, a capability of Alice's, and requests that present it.

/** An agent for one test, removed when the test is done. */
export async function agentFor(options: TestAgentOptions = {}): Promise<TestAgent> {
  quietConsole();
  const agent = await startAgent(options);
  onTestFinished(() => agent.remove());
  return agent;
}

/** A capability of Alice's, with the client that asked for it and one that presents it. */
export interface Held extends GrantedCapability {
  readonly alice: Client;
  readonly holder: Client;
}

/** Asks for a capability as Alice. */
export async function held(
  agent: TestAgent,
  grant = "work:do",
  binding: BindingName = "JSON-RPC",
): Promise<Held> {
  const alice = await clientOf(agent, binding, "alice");
  const capability = await request(alice, { grants: [grant] });
  return { ...capability, alice, holder: await withCapability(alice, capability.token) };
}

/** The headers of a request of Alice's that presents a token. */
export function presenting(token: string): Readonly<Record<string, string>> {
  return { ...authorized("alice"), "A2A-Extensions": EXTENSION_URI, [CAPABILITY_HEADER]: token };
}

/** A message of the user's, as it goes over the wire. */
export function userMessage(parts: Json, more: JsonObject = {}): JsonObject {
  return { messageId: randomUUID(), role: "ROLE_USER", parts, ...more };
}

/** Has a message answered before its task is over. */
export const AT_ONCE: SendMessageConfiguration = {
  acceptedOutputModes: [],
  historyLength: undefined,
  returnImmediately: true,
  taskPushNotificationConfig: undefined,
};

/** Says that the extension is known, without presenting anything. */
export const KNOWN: RequestOptions = {
  serviceParameters: { "A2A-Extensions": EXTENSION_URI },
};
