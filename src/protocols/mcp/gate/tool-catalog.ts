import type { Json } from "../../../bytes/json.js";
import type { Message } from "../message/message.js";
import { listAt, objectAt, stringAt } from "../message/values.js";
import type { ToolDefinition, ToolPins } from "../tools/pins.js";
import type { HostRequest } from "./host-request.js";
import { pagesOf } from "./list-pages.js";
import type { ServerLink } from "./server-link.js";

/** The definition of a tool, and the result of comparing it with its pin. */
export interface KnownTool {
  readonly definition: ToolDefinition;
  /** `true` if the definition differs from the pinned definition. The gate then refuses the tool. */
  readonly isChanged: boolean;
}

/** Milliseconds between two readings of the pins of changed tools. */
const INTERVAL = 1000;

/** The definitions of the servers' tools, each compared with its pin when the gate reads it. */
export class ToolCatalog {
  readonly #pins: ToolPins;
  /** Tools by name, for each server whose whole list has been read and has not been reported as changed. */
  readonly #known = new Map<ServerLink, Promise<Map<string, KnownTool>>>();

  /** The definitions, by name, that differed from their pins when the gate last read them. */
  readonly #changed = new Map<ServerLink, Map<string, ToolDefinition>>();
  readonly #onRestored: () => void;
  #timer: NodeJS.Timeout | undefined;

  /**
   * @param onRestored - Called when a tool is no longer hidden, because a user has accepted its changed definition or
   *   removed its pin.
   */
  constructor(pins: ToolPins, onRestored: () => void) {
    this.#pins = pins;
    this.#onRestored = onRestored;
  }

  /** Stops reading the pins. */
  close(): void {
    clearTimeout(this.#timer);
    this.#changed.clear();
  }

  /**
   * Compares the tools in a page of a server's list with their pins.
   *
   * @returns The tools, in the order of the page.
   */
  async read(link: ServerLink, response: Message): Promise<readonly KnownTool[]> {
    const definitions = definitionsIn(response);
    const changed = await this.#pins.check(link.name, definitions);
    const tools = definitions.map((definition) => ({
      definition,
      isChanged: changed.has(definition.name),
    }));
    this.#watch(link, tools);
    return tools;
  }

  /** Remembers the tools of a list that has one page. */
  noteAll(link: ServerLink, tools: readonly KnownTool[]): void {
    this.#known.set(link, Promise.resolve(byName(tools)));
  }

  /** Forgets the tools of a server, whose list may have changed. The next call reads the list again. */
  forget(link: ServerLink): void {
    this.#known.delete(link);
  }

  /**
   * Finds a tool of a server. If the server's list is not known, reads it first, so that every called tool has been
   * compared with its pin. If the known list lacks the tool, reads the list again: the list may depend on the client,
   * and another client may have read it.
   *
   * @throws ServerError if the server does not return its list.
   */
  async find(link: ServerLink, name: string, request: HostRequest): Promise<KnownTool | undefined> {
    const known = this.#known.get(link);
    let tools = await (known ?? this.#listed(link, request));
    if (known !== undefined && !tools.has(name)) tools = await this.#listed(link, request);
    const tool = tools.get(name);
    if (tool?.isChanged !== true) return tool;
    // The user may have accepted the change, or removed the pin, since the list was read.
    const changed = await this.#pins.check(link.name, [tool.definition]);
    const again = { definition: tool.definition, isChanged: changed.has(name) };
    tools.set(name, again);
    return again;
  }

  /** Remembers which tools have changed. While there are any, reads their pins once a second. */
  #watch(link: ServerLink, tools: readonly KnownTool[]): void {
    const changed = this.#changed.get(link) ?? new Map<string, ToolDefinition>();
    for (const { definition, isChanged } of tools) {
      if (isChanged) changed.set(definition.name, definition);
      else changed.delete(definition.name);
    }
    if (changed.size === 0) this.#changed.delete(link);
    else this.#changed.set(link, changed);
    if (this.#changed.size > 0 && this.#timer === undefined) this.#readLater();
  }

  #readLater(): void {
    this.#timer = setTimeout(async () => {
      // If the pins cannot be read now, they may be readable a second later.
      if (await this.#forgetRestored().catch(() => false)) this.#onRestored();
      this.#timer = undefined;
      if (this.#changed.size > 0) this.#readLater();
    }, INTERVAL).unref();
  }

  /** @returns `true` if at least one changed tool is no longer hidden. */
  async #forgetRestored(): Promise<boolean> {
    let isAny = false;
    for (const [link, changed] of this.#changed) {
      const definitions = [...changed.values()];
      const restored = await this.#pins.unchanged(link.name, definitions);
      for (const definition of definitions) {
        const { name } = definition;
        // The server may have changed the definition again in the meantime.
        if (!restored.has(name) || changed.get(name) !== definition) continue;
        changed.delete(name);
        isAny = true;
      }
      if (changed.size === 0) this.#changed.delete(link);
    }
    return isAny;
  }

  /** Reads a server's list, and remembers it. */
  #listed(link: ServerLink, request: HostRequest): Promise<Map<string, KnownTool>> {
    const asked = this.#ask(link, request);
    this.#known.set(link, asked);
    asked.catch(() => {
      if (this.#known.get(link) === asked) this.#known.delete(link);
    });
    return asked;
  }

  async #ask(link: ServerLink, request: HostRequest): Promise<Map<string, KnownTool>> {
    const tools: KnownTool[] = [];
    for await (const response of pagesOf(link, "tools/list", request)) {
      tools.push(...(await this.read(link, response)));
    }
    return byName(tools);
  }
}

function byName(tools: readonly KnownTool[]): Map<string, KnownTool> {
  return new Map(tools.map((tool) => [tool.definition.name, tool]));
}

/** Returns the tool definitions in a page. Leaves out entries without a name, or without an object as input schema. */
function definitionsIn(response: Message): readonly ToolDefinition[] {
  const entries = listAt(response.value, ["result", "tools"]) ?? [];
  return entries.flatMap((entry) => (isDefinition(entry) ? [entry] : []));
}

/** Returns whether an entry of a list is a tool with a name and an input schema. */
export function isDefinition(entry: Json): entry is ToolDefinition {
  return stringAt(entry, ["name"]) !== undefined && objectAt(entry, ["inputSchema"]) !== undefined;
}
