import type { Json, JsonObject } from "../../../bytes/json.js";
import { narrowedSchema } from "../../../caveats/narrowed-schema.js";
import { type Edit, edit } from "../message/edit.js";
import { type Message, resultText } from "../message/message.js";
import { listAt, objectAt, stringAt } from "../message/values.js";
import { ServerError } from "../server/connection.js";
import { cacheEdits } from "./cache-limits.js";
import { forward, restored } from "./forward.js";
import type { GateParts } from "./gate-parts.js";
import type { HostRequest, OpenRequest } from "./host-request.js";
import { pagesOf } from "./list-pages.js";
import { type HostRule, isToolName, type ListedMember } from "./methods.js";
import { refusalAnswer } from "./refusal.js";
import type { ServerLink } from "./server-link.js";
import { ownTaskEdits } from "./task-requests.js";
import { isDefinition } from "./tool-catalog.js";

type Listed = Extract<HostRule, { by: "list" }> | { readonly by: "task-list" };

/**
 * Answers a list request with the entries that the tokens allow. With one server, edits the server's own text; with
 * several servers, joins their lists into one page.
 */
export async function runList(parts: GateParts, request: HostRequest, rule: Listed): Promise<void> {
  const { presented } = request;
  if (!presented.ok) return request.answer(refusalAnswer(request, presented.denials));
  const { only } = parts.servers;
  const links = parts.servers.links.filter((link) => isShown(parts, request, link, rule));
  if (only === undefined) return request.answer(await merged(parts, request, links, rule));
  if (links.length === 0)
    return request.answer(resultText(request.id, listResult(request, rule, [])));
  const isFirst = request.params["cursor"] === undefined;
  await forward(request, only, {
    finish: async (opened, response) => {
      const result = objectAt(response.value, ["result"]);
      if (result === undefined) return restored(opened, response);
      const edits = await listEdits(parts, opened, only, rule, { response, isFirst });
      return restored(opened, response, [...edits, ...cacheEdits(parts, opened, result)]);
    },
  });
}

function isShown(
  { authority, servers }: GateParts,
  { presented }: OpenRequest,
  link: ServerLink,
  rule: Listed,
): boolean {
  if (rule.by === "task-list" || rule.what === "tools") return true;
  return authority.holds(presented, servers.operation(link, rule.operation));
}

interface Page {
  readonly response: Message;
  /** `true` for the first page of the list. */
  readonly isFirst: boolean;
}

/** Returns the edits of one page. */
async function listEdits(
  parts: GateParts,
  request: OpenRequest,
  link: ServerLink,
  rule: Listed,
  page: Page,
): Promise<readonly Edit[]> {
  if (rule.by === "task-list") return ownTaskEdits(parts, request, page.response);
  if (rule.what === "tools") return toolEdits(parts, request, link, page);
  if (rule.what === "prompts") return promptEdits(parts, link, page.response);
  return [];
}

/**
 * Hides tools that the tokens do not allow or whose definitions have changed. Narrows the schemas of the remaining
 * tools.
 */
async function toolEdits(
  parts: GateParts,
  request: OpenRequest,
  link: ServerLink,
  { response, isFirst }: Page,
): Promise<readonly Edit[]> {
  const { authority, servers, catalog, log, pinsCommand } = parts;
  const tools = await catalog.read(link, response);
  const isLast = stringAt(response.value, ["result", "nextCursor"]) === undefined;
  if (isFirst && isLast) catalog.noteAll(link, tools);
  else catalog.forget(link);
  const changed = new Set(
    tools.filter((tool) => tool.isChanged).map(({ definition }) => definition.name),
  );
  for (const name of changed)
    log(`the definition of ${name} has changed; this shows how: ${pinsCommand}`);
  const hops = authority.hops(request.presented);
  const entries = listAt(response.value, ["result", "tools"]) ?? [];
  return entries.flatMap((entry, at): readonly Edit[] => {
    const path = ["result", "tools", at];
    const hidden = [{ path, value: undefined }];
    if (!isDefinition(entry) || changed.has(entry.name) || !isToolName(entry.name)) return hidden;
    const { name, inputSchema } = entry;
    const operation = servers.operation(link, name);
    if (!authority.holds(request.presented, operation)) return hidden;
    const hostName = servers.hostName(link, name);
    if (hostName === undefined) {
      log(`the tool ${name} of ${link.name} has no name that fits SERVER__TOOL, and is hidden`);
      return hidden;
    }
    const narrowed = narrowedSchema(inputSchema, hops, operation);
    return [
      ...(hostName === name ? [] : [{ path: [...path, "name"], value: hostName }]),
      ...(narrowed === inputSchema ? [] : [{ path: [...path, "inputSchema"], value: narrowed }]),
    ];
  });
}

function promptEdits({ servers }: GateParts, link: ServerLink, response: Message): readonly Edit[] {
  const prompts = listAt(response.value, ["result", "prompts"]) ?? [];
  return prompts.flatMap((prompt, at): readonly Edit[] => {
    const name = stringAt(prompt, ["name"]);
    const hostName = name === undefined ? undefined : servers.hostName(link, name);
    if (hostName === name) return [];
    return hostName === undefined
      ? [{ path: ["result", "prompts", at], value: undefined }]
      : [{ path: ["result", "prompts", at, "name"], value: hostName }];
  });
}

/** Reads the list of each server to its end, and joins the lists. A server that fails is left out. */
async function merged(
  parts: GateParts,
  request: HostRequest,
  links: readonly ServerLink[],
  rule: Listed,
): Promise<string> {
  const lists = await Promise.all(links.map((link) => wholeList(parts, request, link, rule)));
  return resultText(request.id, listResult(request, rule, lists.flat()));
}

async function wholeList(
  parts: GateParts,
  request: HostRequest,
  link: ServerLink,
  rule: Listed,
): Promise<readonly Json[]> {
  if (link.hasEnded || link.isMute || !link.mayHave(CAPABILITY_OF[memberOf(rule)])) return [];
  const entries: Json[] = [];
  let read = 0;
  try {
    for await (const response of pagesOf(link, request.method, request)) {
      const page = { response, isFirst: read++ === 0 };
      const edits = await listEdits(parts, request, link, rule, page);
      const edited: Json = JSON.parse(edit(response.text, edits));
      entries.push(...(listAt(edited, ["result", memberOf(rule)]) ?? []));
    }
  } catch (error) {
    if (!(error instanceof ServerError)) throw error;
    parts.log(error.message);
    return [];
  }
  return entries;
}

/** Returns the name of the property that has the entries in the result of a list. */
function memberOf(rule: Listed): "tasks" | "tools" | ListedMember {
  return rule.by === "task-list" ? "tasks" : rule.what;
}

/** The server capability that a list needs, by the name of the list. */
const CAPABILITY_OF = {
  tasks: "tasks",
  tools: "tools",
  resources: "resources",
  resourceTemplates: "resources",
  prompts: "prompts",
} as const;

/** Returns the result of a list that the gate itself has composed. */
function listResult({ era }: OpenRequest, rule: Listed, entries: readonly Json[]): JsonObject {
  const list = { [memberOf(rule)]: entries };
  return era === "new"
    ? { resultType: "complete", ...list, ttlMs: 0, cacheScope: "private" }
    : list;
}
