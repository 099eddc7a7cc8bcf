import { AgentCard } from "@a2a-js/sdk";
import type { Client, Transport } from "@a2a-js/sdk/client";
import { isJsonObject, isObject, type Json, type JsonObject } from "../../../bytes/json.js";
import { described } from "../../../checks/kinds.js";
import { isLoopback, readUrl } from "../../../client/address.js";
import { ClientError } from "../../../client/client-error.js";
import { assertReachable } from "../../../client/pinned-addresses.js";
import type { CardReading } from "../../../discovery/card.js";
import { type DiscoveryDenial, fetchDenial } from "../../../discovery/denial.js";
import { FETCH_TIMEOUT } from "../../../discovery/fetch-card.js";
import { judgeCard } from "../../../discovery/judge.js";
import type { DiscoveryRequirements } from "../../../discovery/requirements.js";
import { checkedOptions, type DiscoverOptions } from "../../../discovery/safe-discover.js";

/**
 * Returns the card of an SDK client without sending a request. The SDK's `getAgentCard` would send the caller's
 * access token to an agent that has not been judged, and would use the card in the answer.
 *
 * @throws TypeError if `client` is not an SDK client.
 */
export function cardOf(client: Client): AgentCard {
  const card: unknown = isObject(client) ? client["agentCard"] : undefined;
  if (isCard(card)) return card;
  throw new TypeError(
    `client must be a Client of @a2a-js/sdk 1.x, which has an Agent Card, not ${described(client)}`,
  );
}

function isCard(value: unknown): value is AgentCard {
  return typeof value === "object" && value !== null && "supportedInterfaces" in value;
}

/** Returns a client's card as JSON. */
export function writtenCard(card: AgentCard): JsonObject {
  const written: Json = JSON.parse(JSON.stringify(AgentCard.toJSON(card)));
  return isJsonObject(written) ? written : {};
}

/**
 * Returns the URL that a client calls: the URL of its transport or, if that is unknown, of the interface that
 * the SDK selects in the card. `undefined` if neither is known.
 */
export function destinationOf({ transport }: Client, card: AgentCard): string | undefined {
  return endpointOf(transport) ?? chosenBySdk(card, transport.protocolName);
}

function endpointOf(transport: Transport): string | undefined {
  // For an interface with a tenant, the SDK wraps the transport.
  const inner: unknown = Reflect.get(transport, "base") ?? transport;
  const found: unknown =
    typeof inner === "object" && inner !== null ? Reflect.get(inner, "endpoint") : undefined;
  return typeof found === "string" ? found : undefined;
}

/**
 * Selects an interface as the SDK does: the last one with this binding and version 1.0, or else the first one
 * with this binding.
 */
function chosenBySdk({ supportedInterfaces }: AgentCard, binding: string): string | undefined {
  const bound = (supportedInterfaces ?? []).filter((one) => isSame(one.protocolBinding, binding));
  return (bound.findLast(({ protocolVersion }) => protocolVersion === "1.0") ?? bound[0])?.url;
}

/** Input for judging the URL that a client calls. */
export interface Judged {
  readonly card: CardReading;
  readonly binding: string;
  readonly requirements: DiscoveryRequirements;
  readonly discovery: DiscoverOptions;
  /** Origins of the option `card`; `undefined` without that option. */
  readonly named: readonly string[] | undefined;
}

/**
 * Returns the reasons why a client must not call the URL `place`; empty if it may. The judged card must name the
 * URL, and the URL's address must be allowed.
 */
export async function destinationDenials(
  place: string | undefined,
  { card, binding, requirements, discovery, named }: Judged,
): Promise<readonly DiscoveryDenial[]> {
  if (place === undefined) {
    return [elsewhere(`the client's own card names no interface with its binding, ${binding}`)];
  }
  const interfaces = card.interfaces.filter(
    (one) => isSame(one.binding, binding) && withoutSlash(one.url) === withoutSlash(place),
  );
  if (interfaces.length === 0) {
    return [elsewhere(`the client goes to ${shown(place)}, which the agent's card does not name`)];
  }
  const { protocolVersion, binding: wanted } = requirements;
  const judged = judgeCard(
    { ...card, interfaces },
    {
      protocolVersion,
      binding: wanted,
    },
  );
  return judged.ok ? addressDenials(place, binding, discovery, named) : judged.denials;
}

async function addressDenials(
  place: string,
  binding: string,
  discovery: DiscoverOptions,
  named: readonly string[] | undefined,
): Promise<readonly DiscoveryDenial[]> {
  const { insecure = false, allowHosts, resolve, timeout } = checkedOptions(discovery);
  // A gRPC address often has only a host name and a port.
  const isBare = isSame(binding, "GRPC") && !place.includes("://");
  const text = isBare ? `https://${place}` : place;
  try {
    const url = readUrl(text, "the address that the client goes to", { insecure });
    const own = isLoopback(url.hostname) ? [url.origin] : [];
    const origins = { named: named ?? own, allowHosts };
    await assertReachable(url, origins, timeout ?? FETCH_TIMEOUT, resolve);
    return [];
  } catch (error) {
    if (!(error instanceof ClientError)) throw error;
    return [{ ...fetchDenial(error), rule: "client" }];
  }
}

function elsewhere(message: string): DiscoveryDenial {
  return { code: "interface_unsupported", rule: "client", message };
}

/** Compares bindings as the SDK does, ignoring case. */
function isSame(a: string, b: string): boolean {
  return a.toUpperCase() === b.toUpperCase();
}

// The SDK's HTTP+JSON transport omits trailing slashes.
function withoutSlash(url: string): string {
  let end = url.length;
  while (url[end - 1] === "/") end -= 1;
  return url.slice(0, end);
}

/** Returns a URL without the parts that may be secret: user information, query and fragment. */
function shown(place: string): string {
  if (!URL.canParse(place)) return "a place that is not a URL";
  const { protocol, host, pathname } = new URL(place);
  return JSON.stringify(`${protocol}//${host}${pathname}`.slice(0, 256));
}
