import { isJsonObject, type Json, type JsonObject } from "../../../bytes/json.js";
import type { Edit } from "../message/edit.js";
import { METHOD_NOT_FOUND } from "../message/error-codes.js";
import { errorText, isOldVersion, type Message, resultText } from "../message/message.js";
import { listAt, objectAt, stringAt } from "../message/values.js";
import { type ServerEnd, ServerError, serverFailure } from "../server/connection.js";
import { forward, restored } from "./forward.js";
import type { GateParts } from "./gate-parts.js";
import type { HostRequest, OpenRequest } from "./host-request.js";
import type { ServerLink } from "./server-link.js";

const GATE = { name: "proviso-mcp-gate", title: "proviso", version: "1" };

/** Capabilities with lists. The gate can change what such a list shows, for example when a token is revoked. */
const LISTS = ["tools", "resources", "prompts"];

/**
 * Passes on `initialize` or `server/discover`. With several servers, joins their answers into one with every capability
 * and all instructions. For `initialize`, the answer has the lowest version of the servers. For `server/discover`, it
 * has the versions that all servers support, and every server must speak the new era.
 */
export async function runOpening({ servers, log }: GateParts, request: HostRequest): Promise<void> {
  const { only } = servers;
  if (only !== undefined) {
    await forward(request, only, {
      finish: async (opened, response) => {
        const edits = noteOpening(only, opened, response);
        return restored(opened, response, edits);
      },
    });
    return;
  }
  const answers = await Promise.all(servers.links.map((link) => ask(link, request)));
  for (const answer of answers) if (answer.kind === "failed") log(answer.end.message);
  await request.answer(merged(request, answers));
}

type Answer =
  | { readonly kind: "result"; readonly link: ServerLink; readonly result: JsonObject }
  | { readonly kind: "error"; readonly link: ServerLink; readonly error: JsonObject }
  | { readonly kind: "failed"; readonly link: ServerLink; readonly end: ServerEnd };

async function ask(link: ServerLink, request: HostRequest): Promise<Answer> {
  try {
    const response = await link.ask(request.message.text, { era: request.era });
    const result = objectAt(response.value, ["result"]);
    if (result === undefined)
      return { kind: "error", link, error: objectAt(response.value, ["error"]) ?? {} };
    const { protocolVersion = null } = result;
    if (request.method === "initialize" && !isOldVersion(protocolVersion)) {
      const version = JSON.stringify(protocolVersion).slice(0, 50);
      const message = `the server ${link.name} is left out: it answers with the version ${version}`;
      return { kind: "failed", link, end: { code: "server_unreadable", message } };
    }
    noteOpening(link, request, response);
    return { kind: "result", link, result };
  } catch (error) {
    if (!(error instanceof ServerError)) throw error;
    return { kind: "failed", link, end: error };
  }
}

/**
 * Remembers the capabilities of a server.
 *
 * @returns Edits that declare `listChanged`, because the gate itself sends notifications of changed lists.
 */
function noteOpening(
  link: ServerLink,
  { method }: OpenRequest,
  response: Message,
): readonly Edit[] {
  const capabilities = objectAt(response.value, ["result", "capabilities"]);
  if (capabilities === undefined) return [];
  link.capabilities = capabilities;
  if (method === "initialize") link.hasSession = true;
  return LISTS.flatMap((list): readonly Edit[] => {
    const declared = objectAt(capabilities, [list]);
    if (declared === undefined || declared["listChanged"] === true) return [];
    return [{ path: ["result", "capabilities", list, "listChanged"], value: true }];
  });
}

/** Joins the answers of several servers into one answer. Servers that have failed are left out. */
function merged(request: HostRequest, answers: readonly Answer[]): string {
  const { id, method } = request;
  const isDiscovery = method === "server/discover";
  const [first, ...others] = answers.flatMap((answer) =>
    answer.kind === "result" ? [answer] : [],
  );
  const refusal = answers.find((answer) => answer.kind === "error");
  // The error tells the host that one server does not speak the new era. The host then uses the old era for all
  // servers.
  if (refusal !== undefined && (isDiscovery || first === undefined)) {
    return JSON.stringify({ jsonrpc: "2.0", id, error: refusal.error });
  }
  if (first === undefined) {
    const failed = answers.find((answer) => answer.kind === "failed");
    const nobody = { code: "server_unavailable", message: "there is no server" } as const;
    return serverFailure(id, failed?.end ?? nobody);
  }
  const results = [first, ...others];
  return isDiscovery ? discovered(id, results) : initialized(id, results);
}

type Results = readonly Extract<Answer, { kind: "result" }>[];

function initialized(id: string | number, results: Results): string {
  const versions = results.map(({ result }) => stringAt(result, ["protocolVersion"]) ?? "");
  const [protocolVersion = ""] = versions.toSorted();
  return resultText(id, { protocolVersion, ...offered(results), serverInfo: GATE });
}

function discovered(id: string | number, results: Results): string {
  const [first = [], ...others] = results.map(
    ({ result }) => listAt(result, ["supportedVersions"]) ?? [],
  );
  const supportedVersions = first.filter((version) =>
    others.every((list) => list.includes(version)),
  );
  if (supportedVersions.length === 0) {
    const message = "the servers have no version of the new era in common";
    return errorText(id, METHOD_NOT_FOUND, message);
  }
  return resultText(id, {
    resultType: "complete",
    supportedVersions,
    ...offered(results),
    ttlMs: 0,
    cacheScope: "private",
    _meta: { "io.modelcontextprotocol/serverInfo": GATE },
  });
}

/** Returns the capabilities and the instructions of all servers together. */
function offered(results: Results): object {
  const capabilities = withLists(
    results.map(({ result }) => objectAt(result, ["capabilities"]) ?? {}),
  );
  const instructions = results.flatMap(({ link, result }) => {
    const text = stringAt(result, ["instructions"]);
    return text === undefined ? [] : [`${link.name}: ${text}`];
  });
  return { capabilities, instructions: instructions.join("\n\n") || undefined };
}

/**
 * Joins the capabilities of all servers. Declares `listChanged` for their lists, because the gate itself sends these
 * notifications.
 */
function withLists(all: readonly JsonObject[]): JsonObject {
  const union = all.reduce<JsonObject>(unionOf, {});
  const lists = LISTS.flatMap((list) => {
    const declared = objectAt(union, [list]);
    return declared === undefined ? [] : [[list, { ...declared, listChanged: true }]];
  });
  return { ...union, ...Object.fromEntries(lists) };
}

function unionOf(one: JsonObject, other: JsonObject): JsonObject {
  const added = Object.entries(other).map(([name, value]): [string, Json] => {
    const known = one[name];
    if (known === undefined) return [name, value];
    if (isJsonObject(known) && isJsonObject(value)) return [name, unionOf(known, value)];
    return [name, known === false ? value : known];
  });
  return { ...one, ...Object.fromEntries(added) };
}
