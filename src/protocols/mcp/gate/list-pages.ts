import type { Message } from "../message/message.js";
import { objectAt, stringAt, without } from "../message/values.js";
import { ServerError } from "../server/connection.js";
import type { HostRequest } from "./host-request.js";
import type { ServerLink } from "./server-link.js";

/** Maximum number of pages, entries and characters of one list, so that a server cannot fill the memory. */
const MOST_PAGES = 1000;
const MOST_ENTRIES = 10_000;
const MOST_TEXT = 8 * 1024 * 1024;

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
