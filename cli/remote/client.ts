// Calls an agent over HTTP, for the verbs `card`, `request` and `invoke`.

import { duplicateKey, type Json, quotedName } from "../../src/bytes/json.js";
import { readAddress, readUrl } from "../../src/client/address.js";
import { hostAndPort } from "../../src/client/address-rules.js";
import { ClientError } from "../../src/client/client-error.js";
import { AgentFault } from "../../src/client/fault.js";
import { assertWithin, safeFetch } from "../../src/client/fetch.js";
import { isAbsent, isNoCard } from "../../src/discovery/fetch-card.js";
import { safeDiscover } from "../../src/discovery/safe-discover.js";
import { isInAny } from "../../src/discovery/versions.js";
import { AgentRefusedError } from "../../src/protocols/a2a/client/agent-check.js";
import type { CapabilityClient } from "../../src/protocols/a2a/client/capability-client.js";
import type { Context } from "../context.js";
import { CliError, EXIT, environmentError, usageError } from "../exit.js";
import { say } from "../output.js";
import { type RemoteCard, readCard } from "./card.js";
import { refusedAgent } from "./discovery.js";
import {
  type CardOptions,
  DEFAULT_TIMEOUT,
  type RemoteOptions,
  readAccessToken,
} from "./options.js";

export interface AgentConnection {
  readonly card: RemoteCard;
  readonly client: CapabilityClient;
}

type Binding = "jsonrpc" | "rest";
type WireName = "JSONRPC" | "HTTP+JSON";
const BINDINGS: ReadonlyMap<string, { readonly name: Binding; readonly wireName: WireName }> =
  new Map([
    ["JSONRPC", { name: "jsonrpc", wireName: "JSONRPC" }],
    ["HTTP+JSON", { name: "rest", wireName: "HTTP+JSON" }],
  ]);

/**
 * Fetches an agent's card, without sending a token.
 *
 * @throws CliError or ClientError if the agent cannot be reached, or has no valid card.
 */
export async function fetchCard(
  context: Context,
  text: string,
  options: CardOptions,
): Promise<RemoteCard> {
  const { text: answer, card } = await fetchCardText(context, text, options);
  return cardFrom(answer, card.href);
}

/**
 * Parses the text of a card.
 *
 * @param place - The URL or file of the card, for messages.
 * @throws ClientError if an object has a duplicate property.
 * @throws CliError if the text is not an Agent Card.
 */
export function cardFrom(text: string, place: string): RemoteCard {
  const document: Json = JSON.parse(text);
  const twice = duplicateKey(text);
  if (twice === undefined) return readCard(document, place);
  const problem = `the card at ${place} has the property ${quotedName(twice.key)} twice`;
  throw new ClientError("answer_malformed", problem);
}

/**
 * Fetches the JSON text of an agent's card, without sending a token. If there is no card, tries the path that
 * A2A used before 0.3, and reports a card found there.
 *
 * @throws CliError or ClientError if the agent cannot be reached, or has no card.
 */
export async function fetchCardText(
  context: Context,
  text: string,
  options: CardOptions,
): Promise<{ readonly text: string; readonly card: URL }> {
  const { card, olderCard, origins } = readAddress(text, options);
  const get = safeFetch({ origins, timeout: options.timeout ?? DEFAULT_TIMEOUT });
  const at = async (url: URL): Promise<Response | AgentFault> => {
    try {
      return await get(url, { headers: { "A2A-Version": "1.0", Accept: "application/json" } });
    } catch (error) {
      if (error instanceof AgentFault) return error;
      throw error;
    }
  };
  const first = await at(card);
  if (!(first instanceof AgentFault)) return { text: await first.text(), card };
  if (olderCard !== undefined && isAbsent(first.status)) {
    const second = await at(olderCard).catch((error: unknown) => {
      if (isNoCard(error)) return first;
      throw error;
    });
    if (!(second instanceof AgentFault)) {
      const note = `this card is at ${olderCard.pathname}, where A2A before 0.3 has it; nothing is at ${card.pathname}`;
      say(context, `note: ${note}`);
      return { text: await second.text(), card: olderCard };
    }
  }
  const also = olderCard === undefined ? "" : `, nor at ${olderCard.pathname}`;
  const message = `there is no Agent Card at ${card.href}: HTTP ${first.status}${isAbsent(first.status) ? also : ""}`;
  const hint =
    "give the address below which /.well-known/agent-card.json is, or that of the card itself";
  throw environmentError("card_missing", message, hint);
}

/**
 * Connects to an agent on behalf of the access token's subject, through the client of the A2A SDK.
 *
 * @throws CliError if there is no agent, if it offers no capabilities, or if its card lacks what a call needs.
 * @throws ClientError if the agent cannot be reached, or if its card names an origin that the user has not allowed.
 */
export async function connectAgent(
  context: Context,
  text: string,
  options: RemoteOptions,
): Promise<AgentConnection> {
  const accessToken = readAccessToken(context, options.accessToken);
  const card = await fetchCard(context, text, options);
  const { allowOrigin } = options;
  const { origins: named } = readAddress(text, options);
  const also = allowOrigin === undefined ? [] : [readUrl(allowOrigin, "--allow-origin", options)];
  const origins = [...named, ...also.map(({ origin }) => origin)];
  if (card.offer?.spoken !== true) {
    const message = `${card.name} offers no capabilities: its card does not name the extension`;
    const hint = "proviso card shows what it offers";
    throw environmentError("no_capabilities", message, hint);
  }
  const binding = bindingOf(card, options.binding);
  // Check the card before any token is sent. The check requires no grants: the agent's own error explains a
  // missing grant better.
  const discovery = await safeDiscover(card.document, { binding: binding.wireName });
  if (!discovery.ok) throw refusedAgent(card.name, discovery.denials);
  const { url, tenant = "" } = discovery.interface;
  assertWithin(new URL(url), origins);
  const timeout = options.timeout ?? DEFAULT_TIMEOUT;
  const fetchImpl = safeFetch({ origins, accessToken, timeout });
  const sdk = await import("./sdk.js");
  const Transport =
    binding.name === "jsonrpc" ? sdk.JsonRpcTransportFactory : sdk.RestTransportFactory;
  // The SDK gets only the interface that was checked. The card may have another interface with the same binding.
  const chosen = { url, tenant, protocolBinding: binding.wireName, protocolVersion: "1.0" };
  const written = sdk.AgentCard.fromJSON({ ...card.document, supportedInterfaces: [chosen] });
  const cardResolver = { resolve: () => Promise.resolve(written) };
  const factory = new sdk.ClientFactory({
    transports: [new Transport({ fetchImpl })],
    cardResolver,
  });
  const plain = await factory.createFromAgentCard(written);
  const client = options.ambient === true ? await sdk.withAmbientAuthority(plain) : plain;
  // The URL may be private. `assertWithin` has checked it against the origins.
  const { insecure = false } = options;
  const reach = { allowHosts: [hostAndPort(new URL(url))], insecure };
  return { card, client: new sdk.CapabilityClient(client, { discovery: reach }) };
}

/**
 * Calls an agent, and converts an unusable answer to an error for the user.
 *
 * @throws AgentFault if the agent answers with an error.
 * @throws CliError if the answer is unusable for another reason.
 */
export async function asking<T>(card: RemoteCard, call: () => Promise<T>): Promise<T> {
  try {
    return await call();
  } catch (error) {
    const isKnown = [AgentFault, ClientError, CliError].some((known) => error instanceof known);
    if (isKnown) throw error;
    if (error instanceof AgentRefusedError) throw refusedAgent(card.name, error.denials);
    const said = (error instanceof Error ? error.message : String(error)).slice(0, 300);
    const message = `${card.name}: ${said}`;
    if (said.startsWith("the skill failed")) {
      const hint = "it was allowed, and failed within the agent; its operator can find out why";
      throw environmentError("skill_failed", message, hint);
    }
    if (said.startsWith("the skill rejects the call")) {
      const hint = "it was allowed, but the skill cannot work with these arguments";
      throw new CliError({ code: "call_rejected", message, exitCode: EXIT.refused, hint });
    }
    const problem = `the answer of ${card.name} is not what A2A 1.0 says: ${said}`;
    const hint = "try the other --binding, or report it to the operator of the agent";
    throw environmentError("answer_malformed", problem, hint);
  }
}

// Without this check, the SDK would silently use another binding if the requested one is missing.
function bindingOf(
  { name, interfaces }: RemoteCard,
  wanted: Binding | undefined,
): { readonly name: Binding; readonly wireName: WireName } {
  const known = interfaces.flatMap(({ binding, speaks }) => {
    const found = isInAny(SPOKEN, speaks) ? BINDINGS.get(binding.toUpperCase()) : undefined;
    return found === undefined ? [] : [found];
  });
  const chosen = known.find((one) => wanted === undefined || one.name === wanted);
  if (chosen !== undefined) return chosen;
  const others = known.map((one) => `--binding ${one.name}`).join(" or ");
  if (others !== "") throw usageError(`${name} does not speak ${wanted}`, `it takes ${others}`);
  const message = `${name} names no place where it speaks JSON-RPC or HTTP+JSON in A2A 1.0`;
  const hint = "proviso card shows what it speaks";
  throw environmentError("no_binding", message, hint);
}

/** The A2A version that this program implements. */
const SPOKEN = { major: 1, minor: 0 };
