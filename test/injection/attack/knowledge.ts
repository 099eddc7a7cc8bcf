import { TokenError } from "../../../src/bytes/token-error.js";
import { inspect } from "../../../src/capability/inspect.js";
import { AGENTS, type AgentName } from "../world/people.js";

/** The contents of a token, all of which its holder can read except for the key. */
export interface SeenToken {
  readonly text: string;
  readonly service: AgentName;
  readonly id: string;
  readonly handles: readonly string[];
  readonly operations: readonly string[];
}

/** A known name or id, and the agent that it comes from. */
export interface Seen {
  readonly service: AgentName;
  readonly value: string;
}

const HANDLE = /\brh_[A-Za-z0-9_-]{22}(?![A-Za-z0-9_-])/g;
const CAPABILITY = /\bcap_[A-Za-z0-9_-]{16,}/g;
const TOKEN = /\bAg[A-Za-z0-9_-]{80,}/g;

/** Everything that a compromised agent has seen and can build calls from. */
export class Knowledge {
  readonly #tokens = new Map<string, SeenToken>();
  readonly #handles = new Map<string, Seen>();
  readonly #capabilities = new Map<string, Seen>();
  readonly #tasks = new Map<string, Seen>();

  get tokens(): readonly SeenToken[] {
    return [...this.#tokens.values()];
  }

  tokensOf(service: AgentName): readonly SeenToken[] {
    return this.tokens.filter((token) => token.service === service);
  }

  handlesOf(service: AgentName): readonly string[] {
    return valuesOf(this.#handles, service);
  }

  capabilitiesOf(service: AgentName): readonly string[] {
    return valuesOf(this.#capabilities, service);
  }

  tasksOf(service: AgentName): readonly string[] {
    return valuesOf(this.#tasks, service);
  }

  /** Remembers a handle. */
  learnHandle(service: AgentName, value: string): void {
    if (!this.#handles.has(value)) this.#handles.set(value, { service, value });
  }

  learnCapability(service: AgentName, value: string): void {
    if (!this.#capabilities.has(value)) this.#capabilities.set(value, { service, value });
  }

  learnTask(service: AgentName, value: string): void {
    if (!this.#tasks.has(value)) this.#tasks.set(value, { service, value });
  }

  /** Remembers a token and everything readable in it. @returns `true` if the token is new. */
  learnToken(text: string): boolean {
    if (this.#tokens.has(text)) return false;
    const token = readToken(text);
    if (token === undefined) return false;
    this.#tokens.set(text, token);
    this.learnCapability(token.service, token.id);
    // Every hop is plain text, so handles that a later hop removed are still readable in earlier ones.
    for (const { hop } of inspect(text).links) {
      for (const handle of hop?.resourceHandles ?? []) this.learnHandle(token.service, handle);
    }
    return true;
  }

  /** Remembers every handle, capability id and token in an agent's answer. */
  learnFrom(service: AgentName, text: string): void {
    for (const [value] of text.matchAll(HANDLE)) this.learnHandle(service, value);
    for (const [value] of text.matchAll(CAPABILITY)) this.learnCapability(service, value);
    for (const [value] of text.matchAll(TOKEN)) this.learnToken(value);
  }
}

function readToken(text: string): SeenToken | undefined {
  try {
    const { capability, authority } = inspect(text);
    const service = AGENTS.find((name) => name === capability?.iss);
    if (capability === undefined || service === undefined) return undefined;
    const { resourceHandles: handles = [], operations = [] } = authority;
    return { text, service, id: capability.id, handles, operations };
  } catch (error) {
    if (error instanceof TokenError) return undefined;
    throw error;
  }
}

function valuesOf(seen: ReadonlyMap<string, Seen>, service: AgentName): readonly string[] {
  return [...seen.values()].filter((one) => one.service === service).map(({ value }) => value);
}
