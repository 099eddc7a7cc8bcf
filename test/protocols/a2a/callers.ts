import { inspect } from "node:util";
import {
  type ListTasksRequest,
  type Message,
  Role,
  type SendMessageRequest,
  type Task,
  TaskState,
} from "@a2a-js/sdk";
import {
  type Client,
  ClientFactory,
  JsonRpcTransportFactory,
  RestTransportFactory,
} from "@a2a-js/sdk/client";
import { vi } from "vitest";
import type { GrantedCapability } from "../../../src/agent/issuance.js";
import { isJsonObject, type Json, type JsonObject } from "../../../src/bytes/json.js";
import {
  type CapabilityClient,
  createCapabilityClient,
  withCapability,
} from "../../../src/protocols/a2a/client/index.js";
import { CALLERS, type TestAgent, type Who } from "../../support/a2a-agent.js";
import { FULL } from "../../support/size.js";

/** The bindings that the SDK's client supports. */
export type BindingName = "JSON-RPC" | "HTTP+JSON";
export const BINDINGS: readonly BindingName[] = ["JSON-RPC", "HTTP+JSON"];

/**
 * The bindings for tests of code that both bindings call: in a quick run, only JSON-RPC. Tests of the bindings themselves
 * use {@link BINDINGS}.
 */
export const SOME_BINDINGS: readonly BindingName[] = FULL ? BINDINGS : ["JSON-RPC"];

/** Returns a `fetch` that authenticates with an access token. */
function fetchWith(token: string): typeof fetch {
  return (url, init) => {
    const headers = new Headers(init?.headers);
    headers.set("Authorization", `Bearer ${token}`);
    return fetch(url, { ...init, headers });
  };
}

/** Returns an SDK client that sends this access token. */
export function sdkClient(url: string, binding: BindingName, token: string): Promise<Client> {
  const fetchImpl = fetchWith(token);
  const transport =
    binding === "JSON-RPC"
      ? new JsonRpcTransportFactory({ fetchImpl })
      : new RestTransportFactory({ fetchImpl });
  return new ClientFactory({ transports: [transport] }).createFromUrl(url);
}

/** Returns an SDK client for a development caller. With `token`, the client presents a capability. */
export async function clientOf(
  { server }: TestAgent,
  binding: BindingName,
  who: Who,
  token?: string | readonly string[],
): Promise<Client> {
  const client = await sdkClient(server.url, binding, CALLERS[who]);
  return token === undefined ? client : withCapability(client, token);
}

/** Requests capabilities, and returns the first one. */
export async function request(
  client: Client,
  query: Parameters<CapabilityClient["request"]>[0],
): Promise<GrantedCapability> {
  const { capabilities } = await createCapabilityClient(client).request(query);
  const [first] = capabilities;
  if (first === undefined) throw new Error("nothing was granted");
  return first;
}

/** Returns the handle with this display name. */
export function handleOf({ resourceHandles = [] }: GrantedCapability, displayName: string): string {
  const found = resourceHandles.find((one) => one.displayName === displayName);
  if (found === undefined) throw new Error(`there is no handle of ${displayName}`);
  return found.handle;
}

/** Returns a message that calls a skill. */
export function callOf(
  skill: string,
  given: JsonObject,
  more: Partial<Message> = {},
): SendMessageRequest {
  return messageOf([{ data: { skill, arguments: given } }], more);
}

/** Returns a message of parts, each text or data. */
export function messageOf(
  parts: readonly (string | { readonly data: Json })[],
  more: Partial<Message> = {},
): SendMessageRequest {
  const message: Message = {
    messageId: crypto.randomUUID(),
    contextId: "",
    taskId: "",
    role: Role.ROLE_USER,
    parts: parts.map((part) => ({
      content:
        typeof part === "string"
          ? { $case: "text", value: part }
          : { $case: "data", value: part.data },
      mediaType: "",
      filename: "",
      metadata: {},
    })),
    metadata: {},
    extensions: [],
    referenceTaskIds: [],
    ...more,
  };
  return { tenant: "", message, configuration: undefined, metadata: undefined };
}

/** Returns the task in an answer; throws if the answer is a message. */
export function taskIn(answer: Message | Task): Task {
  if ("messageId" in answer) throw new Error("a message came, not a task");
  return answer;
}

/** Returns the result of a task. */
export function resultOf({ artifacts }: Task): Json {
  const [part] = artifacts.at(-1)?.parts ?? [];
  if (part?.content?.$case !== "data") throw new Error("the task has no result");
  return part.content.value;
}

/** Returns the error that an action fails with. */
export async function failureOf(action: Promise<unknown>): Promise<unknown> {
  try {
    await action;
  } catch (error) {
    return error;
  }
  throw new Error("it did not fail");
}

/** An answer over plain HTTP. */
export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** The parsed body; null if the body is not JSON. */
  readonly body: Json;
}

/** Sends a request without adding anything to it. */
export async function send(url: string, init: RequestInit = {}): Promise<Answer> {
  const response = await fetch(url, init);
  const text = await response.text();
  let body: Json = null;
  try {
    body = JSON.parse(text);
  } catch {
    // The body is not JSON, so `body` stays null.
  }
  return { status: response.status, headers: response.headers, text, body };
}

/** Calls a JSON-RPC method over plain HTTP. */
export function rpc(
  { server }: TestAgent,
  who: Who,
  method: string,
  params: unknown,
  headers: Readonly<Record<string, string>> = {},
): Promise<Answer> {
  return rpcTo(server.rpcUrl, { ...authorized(who), ...headers }, method, params);
}

/** Calls a JSON-RPC method at a URL, with exactly these headers. */
export function rpcTo(
  url: string,
  headers: Readonly<Record<string, string>>,
  method: string,
  params: unknown,
): Promise<Answer> {
  const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method, params });
  return send(url, { method: "POST", headers, body });
}

export function authorized(who: Who): Readonly<Record<string, string>> {
  return {
    Authorization: `Bearer ${CALLERS[who]}`,
    "A2A-Version": "1.0",
    "Content-Type": "application/json",
  };
}

/** Returns the value at a path in JSON; null if the path does not exist. */
export function at(json: Json, ...path: readonly (string | number)[]): Json {
  let found: Json | undefined = json;
  for (const step of path) {
    if (Array.isArray(found)) found = found[Number(step)];
    else found = isJsonObject(found ?? null) ? Object(found)[step] : undefined;
  }
  return found ?? null;
}

/** Returns the string at a path in JSON; throws if there is no string. */
export function textAt(json: Json, ...path: readonly (string | number)[]): string {
  const found = at(json, ...path);
  if (typeof found === "string") return found;
  throw new Error(`there is no text at ${path.join(".")} of ${JSON.stringify(json)}`);
}

/** Returns the first event of a stream. */
export async function first<T>(stream: AsyncIterable<T>): Promise<T | undefined> {
  for await (const event of stream) return event;
  return undefined;
}

/** Parameters of ListTasks for all tasks. */
export const LISTING: ListTasksRequest = {
  tenant: "",
  contextId: "",
  status: TaskState.TASK_STATE_UNSPECIFIED,
  pageToken: "",
  pageSize: undefined,
  historyLength: undefined,
  statusTimestampAfter: undefined,
  includeArtifacts: true,
};

/**
 * Suppresses the console output of the SDK's handlers about refused streams. Returns the output that was
 * suppressed.
 */
export function quietConsole(): readonly string[] {
  const said: string[] = [];
  for (const method of ["error", "warn"] as const) {
    vi.spyOn(console, method).mockImplementation((...words: unknown[]) => {
      said.push(words.map((word) => inspect(word, { depth: 8 })).join(" "));
    });
  }
  return said;
}
