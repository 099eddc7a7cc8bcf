import { join } from "node:path";
import { onTestFinished, vi } from "vitest";
import { isJsonObject, type Json, type JsonObject } from "../../../../src/bytes/json.js";
import type { MintRequest } from "../../../../src/capability/mint.js";
import { createIssuer, createKeyring, type Issuer } from "../../../../src/issuer/index.js";
import { createTokenAuthority } from "../../../../src/protocols/mcp/authority/token-authority.js";
import type { Exchange, HostSession } from "../../../../src/protocols/mcp/front/exchange.js";
import { openGateSession } from "../../../../src/protocols/mcp/gate/gate-session.js";
import { readMessage } from "../../../../src/protocols/mcp/message/message.js";
import type {
  ServerConnection,
  ServerEnd,
} from "../../../../src/protocols/mcp/server/connection.js";
import { PinStore } from "../../../../src/protocols/mcp/tools/pins.js";
import {
  createStores,
  type LedgerStore,
  openLedger,
  openRevocations,
  type RevocationStore,
} from "../../../../src/stores/index.js";
import { temporaryFolder } from "../../../support/temporary-folder.js";

/** A busy machine may take a second for anything. */
const PATIENCE = { timeout: 20_000 };

/** A server that sends the messages of a test as raw text, and records the messages that it receives. */
export class RawServer implements ServerConnection {
  readonly name: string | undefined;
  readonly received: string[] = [];
  onMessage: ServerConnection["onMessage"] = async () => {};
  onEnd: ServerConnection["onEnd"] = () => {};
  /** Results by method. The server answers requests with these methods by itself. */
  readonly answers: Record<string, Json | ((request: JsonObject) => Json | undefined)> = {};

  constructor(name?: string) {
    this.name = name;
  }

  async send(text: string): Promise<void> {
    this.received.push(text);
    const message = parsed(text);
    const answer = this.answers[String(message["method"])];
    if (answer === undefined || message["id"] === undefined) return;
    const result = typeof answer === "function" ? answer(message) : answer;
    if (result !== undefined) void this.say({ jsonrpc: "2.0", id: message["id"], result });
  }

  /** Sends the gate a message, or any text. */
  async say(message: JsonObject | string, origin: { forRequest?: number } = {}): Promise<void> {
    await this.onMessage(typeof message === "string" ? message : JSON.stringify(message), origin);
  }

  end(end: ServerEnd): void {
    this.onEnd(end);
  }

  async close(): Promise<void> {}

  /** Returns the received messages with a method. */
  requests(method: string): readonly JsonObject[] {
    return this.received.map(parsed).filter((message) => message["method"] === method);
  }

  /** Waits until at least one message with a method has been received, and returns the last one. */
  async request(method: string): Promise<JsonObject> {
    await vi.waitFor(() => {
      if (this.requests(method).length === 0) throw new Error(`no ${method} yet`);
    }, PATIENCE);
    return this.requests(method).at(-1) ?? {};
  }
}

/** A host that sends raw text, and records the messages that it receives. */
class RawHost {
  readonly received: string[] = [];
  readonly #gate: HostSession;

  constructor(gate: HostSession) {
    this.#gate = gate;
    gate.toHost = async (text) => void this.received.push(text);
  }

  /** Sends a message as a front does. Throws if a front would refuse the message as unreadable. */
  async send(
    message: JsonObject | string,
    given: Partial<Pick<Exchange, "credentials" | "era" | "signal" | "headers">> = {},
  ): Promise<void> {
    const read = readMessage(typeof message === "string" ? message : JSON.stringify(message));
    if (!read.ok) throw new Error(`the front refuses this: ${read.reason}`);
    await this.#gate.receive(read.message, {
      credentials: given.credentials ?? [],
      era: given.era ?? "old",
      signal: given.signal ?? new AbortController().signal,
      headers: given.headers,
      send: async (text) => void this.received.push(text),
    });
  }

  /** Sends a request, and waits for its answer. */
  async ask(message: JsonObject, given: Parameters<RawHost["send"]>[1] = {}): Promise<JsonObject> {
    await this.send({ jsonrpc: "2.0", ...message }, given);
    return this.answerTo(message["id"]);
  }

  async answerTo(id: Json | undefined): Promise<JsonObject> {
    return this.#first((one) => one["id"] === id && one["method"] === undefined);
  }

  /** Waits for a message with a method, and returns the first one. */
  async heard(method: string): Promise<JsonObject> {
    return this.#first((one) => one["method"] === method);
  }

  #first(fits: (message: JsonObject) => boolean): Promise<JsonObject> {
    return vi.waitFor(() => {
      const found = this.messages.find(fits);
      if (found === undefined) throw new Error(`not yet, only ${this.received.join()}`);
      return found;
    }, PATIENCE);
  }

  get messages(): readonly JsonObject[] {
    return this.received.map(parsed);
  }
}

/** The issuer, the stores and the authority of a gate. */
export interface TestGates {
  readonly issuer: Issuer;
  readonly ledger: LedgerStore;
  readonly revocations: RevocationStore;
  readonly pins: PinStore;
  readonly log: readonly string[];
  /** The gate's own token; empty if it has none. */
  readonly ownToken: string;
  /** Mints a token for the grant `mcp`. */
  mint(request: Omit<MintRequest, "grant">): string;
  openSession(servers: readonly ServerConnection[], options?: SessionOptions): HostSession;
}

interface IssuerOptions {
  /** The operations of the grant `mcp`, if the issuer has a list of grants. */
  readonly granted?: readonly string[];
  /** Seconds after which the list of revocations is too old. */
  readonly staleAfter?: number;
}

interface SessionOptions {
  readonly stateless?: boolean;
  readonly answerWithin?: number;
  readonly shareWithin?: number;
}

export interface TestGate extends TestGates {
  readonly gate: HostSession;
  readonly host: RawHost;
}

/** Opens the parts of a gate. The gate has a token of its own that allows `allowed`; without `allowed`, it has none. */
export async function openTestGates(
  allowed?: Omit<MintRequest, "grant">,
  { granted, staleAfter }: IssuerOptions = {},
): Promise<TestGates> {
  const database = await createStores(join(temporaryFolder(), "proviso.db"));
  const revocations = await openRevocations(
    database,
    staleAfter === undefined ? {} : { refreshEvery: 40, staleAfter },
  );
  const ledger = openLedger(database);
  const issuer = createIssuer({
    name: "gate",
    keys: createKeyring(),
    revocations,
    grants: granted && [{ id: "mcp", operations: granted }],
  });
  const mint = (request: Omit<MintRequest, "grant">): string =>
    issuer.mint({ grant: "mcp", ...request }).token;
  const own = allowed === undefined ? [] : [mint(allowed)];
  const authority = createTokenAuthority({
    issuer,
    revocations,
    ledger,
    grant: "mcp",
    ownTokens: () => own,
    recordValues: ["path"],
  });
  const lines: string[] = [];
  const pins = new PinStore(database);
  const log = (line: string): void => void lines.push(line);
  onTestFinished(async () => {
    await authority.close();
    await ledger.close();
    await database.close();
  });
  return {
    issuer,
    ledger,
    revocations,
    pins,
    log: lines,
    ownToken: own[0] ?? "",
    mint,
    openSession: (servers, options) =>
      openGateSession({ servers, authority, pins, log, ...options }),
  };
}

/** Opens a gate with one session in front of servers. */
export async function openTestGate(
  servers: readonly ServerConnection[],
  allowed?: Omit<MintRequest, "grant">,
  options?: SessionOptions & IssuerOptions,
): Promise<TestGate> {
  const gates = await openTestGates(allowed, options);
  const gate = gates.openSession(servers, options);
  onTestFinished(() => gate.close());
  return { ...gates, gate, host: new RawHost(gate) };
}

/** The `_meta` of a request of the new era. */
export const NEW_META = {
  "io.modelcontextprotocol/protocolVersion": "2026-07-28",
  "io.modelcontextprotocol/clientCapabilities": {},
};

function parsed(text: string): JsonObject {
  const value: Json = JSON.parse(text);
  if (!isJsonObject(value)) throw new Error(`no object: ${text}`);
  return value;
}

/** Returns the definition of a tool with string arguments. */
export function tool(name: string, ...properties: readonly string[]): JsonObject {
  const schemas = properties.map((property) => [property, { type: "string" }]);
  return {
    name,
    description: `does ${name}`,
    inputSchema: { type: "object", properties: Object.fromEntries(schemas) },
  };
}

/** Returns the sentence, the codes and the `_meta` of a refused tools/call. */
export function refusalIn(answer: JsonObject): {
  sentence: string;
  codes: readonly string[];
  meta: JsonObject;
} {
  const result = objectIn(answer, "result");
  if (result["isError"] !== true) throw new Error(`not refused: ${JSON.stringify(answer)}`);
  const meta = objectIn(result, "_meta");
  const content = result["content"];
  const [first] = Array.isArray(content) ? content : [];
  const denials = meta["dev.proviso/denials"];
  const codes = Array.isArray(denials) ? denials.map((denial) => String(denial.code)) : [];
  return { sentence: String(first?.text), codes, meta };
}

export function objectIn(value: JsonObject, name: string): JsonObject {
  const inner = value[name];
  if (inner === undefined || !isJsonObject(inner)) {
    throw new Error(`no object ${name} in ${JSON.stringify(value)}`);
  }
  return inner;
}
