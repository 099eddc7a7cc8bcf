import type { Json } from "../../../bytes/json.js";
import type { Message } from "../message/message.js";
import { ServerError } from "../server/connection.js";
import type { ToolDefinition, ToolPins } from "../tools/pins.js";
import type { HostRequest } from "./host-request.js";
import type { ServerLink } from "./server-link.js";
import { listAt, objectAt, stringAt, without } from "./values.js";

/** Maximum number of pages, entries and characters of one list, so that a server cannot fill the memory. */
const MOST_PAGES = 1000;
const MOST_ENTRIES = 10_000;
const MOST_TEXT = 8 * 1024 * 1024;

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

/**
 * Asks a server for all pages of a list.
 *
 * @param request - The host's request that needs the list. In the new era, its `_meta` names the version and the
 *   client, which the gate repeats to the server.
 * @throws ServerError if the server fails or refuses, or if the list is too long.
 */
export async function* pagesOf(
  link: ServerLink,
  method: string,
  request: HostRequest,
): AsyncGenerator<Message> {
  const meta = objectAt(request.params, ["_meta"]) ?? {};
  const _meta = request.era === "new" ? without(meta, ["progressToken"]) : undefined;
  const tooLong = (what: string): ServerError =>
    new ServerError(
      "server_unreadable",
      `${method} of ${link.name ?? "the server"} has more than ${what}`,
    );
  let cursor: string | undefined;
  let entries = 0;
  let characters = 0;
  for (let page = 0; page < MOST_PAGES; page++) {
    const params = { cursor, _meta };
    const asked = JSON.stringify({ jsonrpc: "2.0", id: 0, method, params });
    const response = await link.ask(asked, { era: request.era });
    if (response.value["result"] === undefined) {
      throw new ServerError("server_unreadable", `the server does not answer ${method}`);
    }
    entries += entriesIn(response);
    characters += response.text.length;
    if (entries > MOST_ENTRIES) throw tooLong(`${MOST_ENTRIES} entries`);
    if (characters > MOST_TEXT) throw tooLong(`${MOST_TEXT} characters`);
    yield response;
    cursor = stringAt(response.value, ["result", "nextCursor"]);
    if (cursor === undefined) return;
  }
  throw tooLong(`${MOST_PAGES} pages`);
}

/** Returns the number of entries in all arrays of a result. The result of a list method has one array. */
function entriesIn({ value }: Message): number {
  const lists = Object.values(objectAt(value, ["result"]) ?? {});
  return lists.reduce<number>((sum, list) => sum + (Array.isArray(list) ? list.length : 0), 0);
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
