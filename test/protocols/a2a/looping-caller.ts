import { Agent, request as httpRequest } from "node:http";
import type { Json, JsonObject } from "../../../src/bytes/json.js";
import { attenuate, createNonce, type HopInit } from "../../../src/index.js";
import type { TestAgent } from "../../support/a2a-agent.js";
import { at, textAt } from "./callers.js";
import {
  documentsLeft,
  expected,
  type Held,
  type Link,
  type ModelCall,
  operationsLeft,
  type Root,
} from "./model.js";

/** Maximum number of tokens in the pool. A new token then replaces an old one. */
const POOL = 300;
const TITLES = ["First quarter", "Sales of the first quarter", "Second quarter"];

/** One caller: a user, the agent that acts for the user, and their access token. */
export interface CallerOf {
  readonly principal: string;
  readonly invoker: string;
  readonly token: string;
}

/**
 * The generator mulberry32. With it, each caller makes the same calls in the same order in every run; only the
 * order between callers differs.
 */
function randomFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
}

/** The state that all callers share: the pool of tokens, and the outcomes of calls. */
export class World {
  readonly pool: Held[] = [];
  readonly wrong: string[] = [];
  allowed = 0;
  refused = 0;
  revocations = 0;
  attenuations = 0;
  requests = 0;

  readonly agent: TestAgent;

  constructor(agent: TestAgent) {
    this.agent = agent;
  }

  put(held: Held, random: () => number): void {
    if (this.pool.length < POOL) this.pool.push(held);
    else this.pool[Math.floor(random() * POOL)] = held;
  }
}

/** Makes random calls, and compares every answer with the model. */
export class LoopingCaller {
  readonly #world: World;
  readonly #who: CallerOf;
  readonly #random: () => number;
  readonly #connection = new Agent({ keepAlive: true, maxSockets: 1 });

  constructor(world: World, who: CallerOf, seed: number) {
    this.#world = world;
    this.#who = who;
    this.#random = randomFrom(seed);
  }

  async until(end: number): Promise<void> {
    await this.#request();
    while (performance.now() < end) {
      const chance = this.#random();
      const held = this.#pick(this.#world.pool);
      if (chance < 0.01 || held === undefined) await this.#request();
      else if (chance < 0.02) await this.#revoke(held);
      else if (chance < 0.12) await this.#attenuate(held, chance < 0.04);
      else if (chance < 0.17) await this.#damaged(held);
      else if (chance < 0.23) await this.#byId(held);
      else await this.#invoke(held, chance < 0.4);
    }
    this.#connection.destroy();
  }

  #pick<T>(from: readonly T[]): T | undefined {
    return from[Math.floor(this.#random() * from.length)];
  }

  #rpc(method: string, params: object): Promise<Json> {
    return new Promise((resolve, reject) => {
      const headers = {
        Authorization: `Bearer ${this.#who.token}`,
        "Content-Type": "application/json",
        "A2A-Version": "1.0",
        "A2A-Extensions": "urn:proviso:a2a:capabilities:1",
      };
      const options = { method: "POST", agent: this.#connection, headers };
      const sent = httpRequest(this.#world.agent.server.rpcUrl, options, (response) => {
        const chunks: Buffer[] = [];
        response.on("data", (chunk: Buffer) => chunks.push(chunk));
        response.on("end", () => resolve(JSON.parse(Buffer.concat(chunks).toString())));
      });
      sent.on("error", reject);
      sent.end(JSON.stringify({ jsonrpc: "2.0", id: 1, method, params }));
    });
  }

  async #request(): Promise<void> {
    const reading = this.#random() < 0.7;
    const answer = await this.#rpc(
      "a2a/capabilities/request",
      reading
        ? { grants: ["documents:read"], resourceQuery: { collection: "reports" } }
        : { grants: ["payments:send"], constraints: { amount: { max: 1000 } } },
    );
    const granted = at(answer, "result", "capabilities", 0);
    const named = at(granted, "resourceHandles");
    const handles = new Map(
      (Array.isArray(named) ? named : []).map((one: Json) => [
        textAt(one, "displayName"),
        textAt(one, "handle"),
      ]),
    );
    const root: Root = { ...this.#who, id: textAt(granted, "id"), handles };
    const link: Link = reading
      ? { operations: ["retrieve", "search"], documents: TITLES }
      : { operations: ["pay"], most: 1000 };
    this.#world.requests += 1;
    this.#world.put({ token: textAt(granted, "token"), root, link }, this.#random);
  }

  async #revoke(held: Held): Promise<void> {
    const { link } = held;
    link.revoking ??= performance.now();
    const answer = await this.#rpc("a2a/capabilities/revoke", { token: held.token });
    link.revoked ??= performance.now();
    this.#world.revocations += 1;
    if (at(answer, "result", "revoked") !== true)
      this.#world.wrong.push(`revoke: ${JSON.stringify(answer)}`);
  }

  /** Narrows a token: offline, or through the method `a2a/capabilities/attenuate`. */
  async #attenuate({ token, root, link }: Held, byMethod: boolean): Promise<void> {
    if (depthOf(link) > 10) return;
    const hop: { operations?: string[]; documents?: string[]; invokers?: string[]; most?: number } =
      {};
    const random = this.#random;
    const some = (all: readonly string[]): string[] => {
      const chosen = all.filter(() => random() < 0.7);
      return chosen.length > 0 ? chosen : all.slice(0, 1);
    };
    if (random() < 0.4) hop.operations = some(operationsLeft(link));
    const left = documentsLeft(link);
    if (left !== undefined && random() < 0.4) hop.documents = some(left);
    if (left === undefined && random() < 0.5) hop.most = Math.floor(random() * mostOf(link));
    if (random() < 0.05 && !pathHasInvokers(link)) hop.invokers = [this.#who.invoker];
    const init: HopInit = {
      nonce: createNonce(),
      ...(hop.operations === undefined ? {} : { operations: hop.operations }),
      ...(hop.documents === undefined
        ? {}
        : { resourceHandles: hop.documents.map((title) => root.handles.get(title) ?? "") }),
      ...(hop.invokers === undefined ? {} : { invokers: hop.invokers }),
      ...(hop.most === undefined ? {} : { constraints: { amount: { max: hop.most } } }),
    };
    let narrowed: string;
    if (byMethod) {
      const sent = performance.now();
      const answer = await this.#rpc("a2a/capabilities/attenuate", {
        token,
        constraints: { ...init },
      });
      if (at(answer, "error") !== null) {
        const { invoker } = this.#who;
        const usual = { operation: "", invoker, sent, answered: performance.now() };
        const { outcomes } = expected(link, usual);
        const denied = codesIn(answer);
        // The agent narrows a token only for a party that may use the token.
        const known = ["revoked", "invoker_denied"].some(
          (code) => denied.has(code) && outcomes.some((outcome) => outcome.has(code)),
        );
        if (!known) this.#world.wrong.push(`attenuate: ${JSON.stringify(answer)}`);
        return;
      }
      narrowed = textAt(answer, "result", "capability", "token");
    } else {
      const attenuation = attenuate(token, init);
      if (!attenuation.ok) {
        this.#world.wrong.push(`attenuate: ${JSON.stringify(attenuation.overreaches)}`);
        return;
      }
      narrowed = attenuation.token;
    }
    this.#world.attenuations += 1;
    this.#world.put({ token: narrowed, root, link: { parent: link, ...hop } }, random);
  }

  /** Presents a token with one character changed. */
  async #damaged({ token, root }: Held): Promise<void> {
    const place = Math.floor(this.#random() * (token.length - 1));
    const other = token[place] === "A" ? "B" : "A";
    const damaged = `${token.slice(0, place)}${other}${token.slice(place + 1)}`;
    const [handle = ""] = root.handles.values();
    const call = {
      skill: "retrieve_document",
      arguments: { resourceHandle: handle },
      token: damaged,
    };
    const answer = await this.#rpc("a2a/skill/invoke", call);
    this.#world.refused += 1;
    if (at(answer, "error", "code") !== -31403)
      this.#world.wrong.push(`damaged: ${JSON.stringify(answer)}`);
  }

  /** Presents only a capability id that was issued to another party. */
  async #byId({ root }: Held): Promise<void> {
    const own = root.principal === this.#who.principal && root.invoker === this.#who.invoker;
    if (own) return;
    const call = { skill: "pay", arguments: { amount: 1, to: "x" }, capabilityId: root.id };
    const answer = await this.#rpc("a2a/skill/invoke", call);
    this.#world.refused += 1;
    if (!codesIn(answer).has("capability_unknown"))
      this.#world.wrong.push(`by id: ${JSON.stringify(answer)}`);
  }

  async #invoke(held: Held, byMessage: boolean): Promise<void> {
    const { skill, operation, given, document, amount } = this.#anyCall(held);
    const sent = performance.now();
    let answer: Json;
    if (byMessage) {
      const message = {
        messageId: createNonce(),
        role: "ROLE_USER",
        parts: [{ data: { skill, arguments: given } }],
      };
      const metadata = {
        "urn:proviso:a2a:capabilities:1": { capabilities: [{ token: held.token }] },
      };
      answer = await this.#rpc("SendMessage", { message, metadata });
    } else {
      answer = await this.#rpc("a2a/skill/invoke", { skill, arguments: given, token: held.token });
    }
    const call: ModelCall = {
      operation,
      invoker: this.#who.invoker,
      sent,
      answered: performance.now(),
      document,
      amount,
    };
    const result = byMessage
      ? at(answer, "result", "task", "artifacts", 0, "parts", 0, "data")
      : at(answer, "result", "result");
    this.#judge(held, call, answer, result);
  }

  #judge({ link }: Held, call: ModelCall, answer: Json, result: Json): void {
    const world = this.#world;
    const { outcomes } = expected(link, call);
    const allowed = result !== null;
    if (allowed) world.allowed += 1;
    else world.refused += 1;
    const codes = codesIn(answer);
    const known = outcomes.some((outcome) => sameSet(outcome, codes));
    // Without denial codes, the call was allowed, so its result must be right.
    if (known && (allowed ? codes.size === 0 && sameResult(call, link, result) : codes.size > 0))
      return;
    const model = outcomes.map((outcome) => [...outcome]);
    world.wrong.push(JSON.stringify({ call, model, answer }));
  }

  /** Returns a random call, which the token may or may not allow. */
  #anyCall({ root, link }: Held) {
    const chance = this.#random();
    if (chance < 0.2 || (documentsLeft(link) === undefined && chance < 0.9)) {
      const amount = Math.floor(this.#random() * 1500);
      return { skill: "pay", operation: "pay", given: { amount, to: "x" } as JsonObject, amount };
    }
    if (chance < 0.5) {
      return {
        skill: "search_documents",
        operation: "search",
        given: { query: "Revenue" } as JsonObject,
      };
    }
    const foreign = this.#random() < 0.1 ? this.#pick(this.#world.pool)?.root : undefined;
    const document = this.#pick(TITLES) ?? "";
    const elsewhere =
      foreign === undefined || foreign === root ? undefined : foreign.handles.get(document);
    const resourceHandle = elsewhere ?? root.handles.get(document) ?? `rh_${"A".repeat(22)}`;
    const given: JsonObject = { resourceHandle };
    return {
      skill: "retrieve_document",
      operation: "retrieve",
      given,
      document: elsewhere === undefined ? document : "foreign",
    };
  }
}

function sameResult(call: ModelCall, link: Link, result: Json): boolean {
  if (call.operation === "retrieve") return at(result, "title") === call.document;
  if (call.operation === "pay") return at(result, "paid") === call.amount;
  return JSON.stringify(result) === JSON.stringify([...(documentsLeft(link) ?? [])].sort());
}

function sameSet(some: ReadonlySet<string>, others: ReadonlySet<string>): boolean {
  return some.size === others.size && [...some].every((one) => others.has(one));
}

function codesIn(answer: Json): ReadonlySet<string> {
  const codes = at(answer, "error", "data", 0, "metadata", "codes");
  // A stored task is refused in its status, if the capability was revoked before the task ran.
  const status = at(answer, "result", "task", "status", "message", "metadata");
  const reason = at(status, "urn:proviso:a2a:capabilities:1", "reason");
  if (typeof reason === "string") return new Set([reason]);
  return new Set(typeof codes === "string" ? codes.split(",") : []);
}

function depthOf({ parent }: Link): number {
  return parent === undefined ? 1 : 1 + depthOf(parent);
}

function mostOf({ most = Number.POSITIVE_INFINITY, parent }: Link): number {
  return Math.min(most, parent === undefined ? Number.POSITIVE_INFINITY : mostOf(parent));
}

function pathHasInvokers({ invokers, parent }: Link): boolean {
  return invokers !== undefined || (parent !== undefined && pathHasInvokers(parent));
}
