import { type Message, Role, type Task } from "@a2a-js/sdk";
import {
  type Client,
  ClientFactory,
  DefaultAgentCardResolver,
  JsonRpcTransportFactory,
  RestTransportFactory,
} from "@a2a-js/sdk/client";
import { isJsonObject, type Json, type JsonObject } from "../../../src/bytes/json.js";
import { EXTENSION_URI } from "../../../src/protocols/a2a/extension.js";

/** The text and HTTP status of an answer. */
export interface Heard {
  readonly text: string;
  readonly status: number;
}

/** An A2A binding, by the SDK's name. */
export type Transport = "JSONRPC" | "HTTP+JSON";

/** A connection to one agent with one access token: the SDK's own clients, and plain HTTP. */
export class Connection {
  readonly #agent: { readonly url: string; readonly rpcUrl: string };
  readonly #fetch: typeof fetch;
  readonly #clients = new Map<Transport, Promise<Client>>();

  /**
   * @param token - The access token; absent to connect without one.
   * @param heard - Called with every answer.
   */
  constructor(
    agent: { readonly url: string; readonly rpcUrl: string },
    token: string | undefined,
    heard: (answer: Heard) => void,
  ) {
    this.#agent = agent;
    this.#fetch = async (input, init) => {
      const headers = new Headers(init?.headers);
      if (token !== undefined) headers.set("Authorization", `Bearer ${token}`);
      const response = await fetch(input, { ...init, headers });
      heard({ text: await response.clone().text(), status: response.status });
      return response;
    };
  }

  /** Returns the SDK's client, unmodified except for the access token. */
  client(transport: Transport = "JSONRPC"): Promise<Client> {
    const known = this.#clients.get(transport);
    if (known !== undefined) return known;
    const fetchImpl = this.#fetch;
    const factory = new ClientFactory({
      transports: [
        transport === "JSONRPC"
          ? new JsonRpcTransportFactory({ fetchImpl })
          : new RestTransportFactory({ fetchImpl }),
      ],
      cardResolver: new DefaultAgentCardResolver({ fetchImpl }),
    });
    const client = factory.createFromUrl(this.#agent.url);
    this.#clients.set(transport, client);
    return client;
  }

  /** Makes a JSON-RPC call over plain HTTP. */
  async method(
    method: string,
    params: JsonObject,
    headers: { readonly [name: string]: string } = {},
  ): Promise<Json> {
    const all = new Headers(headers);
    all.set("Content-Type", "application/json");
    if (!all.has("A2A-Version")) all.set("A2A-Version", "1.0");
    const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method, params });
    const response = await this.#fetch(this.#agent.rpcUrl, { method: "POST", headers: all, body });
    return (await response.json()) as Json;
  }

  /** Fetches the public card. */
  async card(): Promise<JsonObject> {
    const response = await this.#fetch(`${this.#agent.url}/.well-known/agent-card.json`);
    const card = (await response.json()) as Json;
    if (!isJsonObject(card)) throw new TypeError("the card is no object");
    return card;
  }
}

type Parts = Message["parts"];

/** Returns a data part of a message. */
export function dataPart(value: Json): Parts[number] {
  return {
    content: { $case: "data", value },
    mediaType: "application/json",
    filename: "",
    metadata: {},
  };
}

/** Returns a text part of a message. */
export function textPart(value: string): Parts[number] {
  return {
    content: { $case: "text", value },
    mediaType: "text/plain",
    filename: "",
    metadata: {},
  };
}

/** The SDK's type for the parameters of SendMessage. */
export type SendRequest = Parameters<Client["sendMessage"]>[0];

/** Optional properties of a message. */
export interface MessageExtras {
  readonly taskId?: string;
  readonly contextId?: string;
  readonly references?: readonly string[];
  /** Metadata of the request, not of the message. */
  readonly metadata?: JsonObject;
  /** Metadata of the message itself. */
  readonly messageMetadata?: JsonObject;
  /** `true` to return before the task ends. */
  readonly immediately?: boolean;
}

/** Returns a message to an agent. */
export function messageOf(parts: Parts, extras: MessageExtras = {}): SendRequest {
  const { taskId = "", contextId = "", references = [], immediately = false } = extras;
  const message: Message = {
    messageId: crypto.randomUUID(),
    contextId,
    taskId,
    role: Role.ROLE_USER,
    parts,
    metadata: { ...extras.messageMetadata },
    extensions: [EXTENSION_URI],
    referenceTaskIds: [...references],
  };
  const configuration = {
    acceptedOutputModes: [],
    taskPushNotificationConfig: undefined,
    returnImmediately: immediately,
  };
  return { tenant: "", message, configuration, metadata: { ...extras.metadata } };
}

/** Returns the result of a task: the data of its last artifact. */
export function resultOf(answer: Message | Task): Json {
  if ("messageId" in answer) throw new Error("the agent answered with a message");
  const [part] = answer.artifacts.at(-1)?.parts ?? [];
  if (part?.content?.$case === "data") return (part.content.value ?? null) as Json;
  throw new Error(`the task has no result: ${JSON.stringify(answer.status)}`);
}
