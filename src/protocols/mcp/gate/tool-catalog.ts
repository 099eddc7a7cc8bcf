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

/** The definitions of the servers' tools, each compared with its pin when the gate reads it. */
export class ToolCatalog {
  readonly #pins: ToolPins;
  /** Tools by name, for each server whose whole list has been read and has not been reported as changed. */
  readonly #known = new Map<ServerLink, Promise<Map<string, KnownTool>>>();

  constructor(pins: ToolPins) {
    this.#pins = pins;
  }

  /**
   * Compares the tools in a page of a server's list with their pins.
   *
   * @returns The tools, in the order of the page.
   */
  async read(link: ServerLink, response: Message): Promise<readonly KnownTool[]> {
    const definitions = definitionsIn(response);
    const changed = await this.#pins.check(link.name, definitions);
    return definitions.map((definition) => ({
      definition,
      isChanged: changed.has(definition.name),
    }));
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
    // The user may have accepted the change since the list was read.
    const changed = await this.#pins.check(link.name, [tool.definition]);
    const again = { definition: tool.definition, isChanged: changed.has(name) };
    tools.set(name, again);
    return again;
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
