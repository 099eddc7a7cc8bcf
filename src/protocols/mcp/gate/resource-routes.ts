import { listAt, stringAt } from "../message/values.js";
import { ServerError } from "../server/connection.js";
import type { GateParts } from "./gate-parts.js";
import type { HostRequest } from "./host-request.js";
import { pagesOf } from "./list-pages.js";
import type { ServerLink } from "./server-link.js";

/**
 * Finds the server of a resource. A URI does not name its server, so the gate asks each server for which the tokens
 * allow the operation. Returns the first server that lists the resource. If no server lists it, returns the server with
 * the template whose fixed beginning matches the longest part of the URI.
 */
export async function resourceLink(
  { authority, servers, log }: GateParts,
  request: HostRequest,
  operation: string,
  uri: string,
): Promise<ServerLink | undefined> {
  const [first, ...others] = servers.links;
  if (others.length === 0) return first;
  const links = servers.links.filter(
    (link) =>
      !link.hasEnded &&
      !link.isMute &&
      link.mayHave("resources") &&
      authority.holds(request.presented, servers.operation(link, operation)),
  );
  // No server qualifies, usually because the tokens allow none. The call is then judged for the first server, so that
  // its refusal has a reason.
  if (links.length === 0) return first;
  let best: { readonly link: ServerLink; readonly length: number } | undefined;
  for (const link of links) {
    try {
      if (await listed(link, request, uri)) return link;
      const length = await longestTemplate(link, request, uri);
      if (length > (best?.length ?? 0)) best = { link, length };
    } catch (error) {
      if (!(error instanceof ServerError)) throw error;
      log(error.message);
    }
  }
  return best?.link;
}

async function listed(link: ServerLink, request: HostRequest, uri: string): Promise<boolean> {
  for await (const page of pagesOf(link, "resources/list", request)) {
    const resources = listAt(page.value, ["result", "resources"]) ?? [];
    if (resources.some((resource) => stringAt(resource, ["uri"]) === uri)) return true;
  }
  return false;
}

/**
 * Compares the URI with the fixed beginning of each template: its text before the first expression. Returns the length
 * of the longest fixed beginning with which the URI begins; 0 if there is none.
 */
async function longestTemplate(
  link: ServerLink,
  request: HostRequest,
  uri: string,
): Promise<number> {
  let longest = 0;
  for await (const page of pagesOf(link, "resources/templates/list", request)) {
    for (const template of listAt(page.value, ["result", "resourceTemplates"]) ?? []) {
      const [start = ""] = (stringAt(template, ["uriTemplate"]) ?? "").split("{");
      if (uri.startsWith(start)) longest = Math.max(longest, start.length);
    }
  }
  return longest;
}
