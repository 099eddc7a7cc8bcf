import { ServerError } from "../server/connection.js";
import type { GateParts } from "./gate-parts.js";
import type { HostRequest } from "./host-request.js";
import type { ServerLink } from "./server-link.js";
import { pagesOf } from "./tool-catalog.js";
import { listAt, stringAt } from "./values.js";

/**
 * Finds the server of a resource. URIs stay as the servers write them, so those of several servers that the caller's
 * tokens have the operation of are asked: the first that lists the resource, or else the one whose template has the
 * longest beginning in common with it.
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
  // No token has the operation: the call is then refused for the first server, with the reason.
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

/** Returns the length of the longest beginning of a template, up to its first expression, that begins the URI too. */
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
