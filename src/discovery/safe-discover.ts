import { isDeeperThan, isJsonObject, type Json, type JsonObject } from "../bytes/json.js";
import { assertMembers } from "../checks/members.js";
import { readAddress, readUrl } from "../client/address.js";
import { readHostAndPort } from "../client/address-rules.js";
import { ClientError } from "../client/client-error.js";
import { assertReachable } from "../client/pinned-addresses.js";
import type { CardReading } from "./card.js";
import { type DiscoveryDenial, type DiscoveryWarning, fetchDenial } from "./denial.js";
import type { Discovery, RefusedAgent, UsableAgent } from "./discovery.js";
import { type FetchedCard, type FetchOptions, fetchCard, withDeadline } from "./fetch-card.js";
import { judgeCard, judgeItself } from "./judge.js";
import { MAX_CARD_DEPTH, readCard } from "./read-card.js";
import { type DiscoveryRequirements, settleRequirements } from "./requirements.js";
import { loadJose, readSignatures, type SignatureReading } from "./signature.js";
import { type TrustOptions, trustedKeys } from "./trusted-keys.js";

/** Options of {@link safeDiscover}. */
export interface DiscoverOptions extends FetchOptions, TrustOptions {}

const OPTIONS = [
  "allowHosts",
  "insecure",
  "timeout",
  "cache",
  "clock",
  "resolve",
  "ca",
  "trustedKeys",
  "jwksUrl",
];

/**
 * Judges whether an agent may be given a task: fetches its card, verifies the card's signatures, and checks the
 * requirements. Requests only the card and the keys of its signatures.
 *
 * @param card - A card as JSON, or the URL of an agent or of its card. The URL may have a private or loopback
 *   address.
 * @returns The agent with the interface to use, or every reason for refusing the agent. A card that cannot be
 *   fetched is such a reason.
 * @throws TypeError if the requirements or the options are invalid.
 *
 * @example
 * ```ts
 * import { safeDiscover } from "proviso/discovery";
 *
 * const card = {
 *   name: "Clock",
 *   description: "Tells the time",
 *   version: "1.0.0",
 *   supportedInterfaces: [
 *     { url: "https://clock.example/a2a", protocolBinding: "JSONRPC", protocolVersion: "1.0" },
 *   ],
 *   capabilities: { streaming: true },
 *   defaultInputModes: ["text/plain"],
 *   defaultOutputModes: ["text/plain"],
 *   skills: [],
 * };
 * (await safeDiscover(card, {})).ok; // => true
 *
 * const refused = await safeDiscover(card, { capabilities: ["streaming_message"] });
 * refused.denials[0].code; // => "capability_undeclared"
 * ```
 */
export async function safeDiscover(
  card: JsonObject | string | URL,
  requirements: DiscoveryRequirements,
  options: DiscoverOptions = {},
): Promise<Discovery> {
  settleRequirements(requirements);
  return discoverFrom(card, requirements, checkedOptions(options), judgeCard);
}

/** Judges a card whose signatures were checked. */
type Judge = (card: CardReading, requirements: DiscoveryRequirements) => Discovery;

/**
 * Implements {@link safeDiscover} for validated options. `judge` also decides on the agents to which this agent
 * delegates.
 */
export async function discoverFrom(
  card: JsonObject | string | URL,
  requirements: DiscoveryRequirements,
  options: DiscoverOptions,
  judge: Judge = judgeItself,
): Promise<Discovery> {
  if (typeof card === "string" || card instanceof URL) {
    return discoverAt(String(card), requirements, options, ownOrigins(card), judge);
  }
  if (typeof card !== "object" || card === null) {
    throw new TypeError("card: must be a card as JSON, or an address");
  }
  const bounded = withDeadline(options);
  return discoverDocument(card, requirements, bounded, { judge, source: undefined });
}

/**
 * Implements {@link safeDiscover} for a URL.
 * @param named - Origins that the caller has named. The origin of `address` need not be among them.
 */
export async function discoverAt(
  address: string,
  requirements: DiscoveryRequirements,
  options: DiscoverOptions,
  named: readonly string[],
  judge: Judge = judgeItself,
): Promise<Discovery> {
  const bounded = withDeadline(options);
  let fetched: FetchedCard;
  try {
    fetched = await fetchCard(address, named, bounded);
  } catch (error) {
    if (error instanceof ClientError) return refused([fetchDenial(error)]);
    throw error;
  }
  const source = { url: fetched.url, named };
  const found = await discoverDocument(fetched.document, requirements, bounded, { judge, source });
  if (!fetched.isAtOlderPlace) return found;
  return { ...found, warnings: [atOlderPlace(fetched.url), ...found.warnings] };
}

function atOlderPlace({ origin, pathname }: URL): DiscoveryWarning {
  const message = `the card is at ${origin}${pathname}, where A2A before 0.3 has it; nothing is at agent-card.json`;
  return { code: "card_at_older_place", rule: "address", message };
}

/** The options of one discovery, with the remaining time. */
type BoundedOptions = ReturnType<typeof withDeadline<DiscoverOptions>>;

interface Source {
  readonly url: URL;
  readonly named: readonly string[];
}

async function discoverDocument(
  card: Json,
  requirements: DiscoveryRequirements,
  options: BoundedOptions,
  { judge, source }: { readonly judge: Judge; readonly source: Source | undefined },
): Promise<Discovery> {
  if (!isJsonObject(card)) return refused([malformed("what is given as a card is not an object")]);
  if (isDeeperThan(card, MAX_CARD_DEPTH)) {
    return refused([malformed(`the card is nested more than ${MAX_CARD_DEPTH} deep`)]);
  }
  const { named = [] } = source ?? {};
  const signatures = await signaturesOf(card, options, named);
  // If a signature is invalid, the card is not read.
  if (signatures.denials.length > 0) return refused(signatures.denials);
  const { requireSignature = false, ...others } = requirements;
  const judged = judge(readCard(signatures.document), others);
  // If a signature is required, an untrusted signature is a reason for refusal instead of a warning.
  const warnings = [...(requireSignature ? [] : signatures.warnings), ...judged.warnings];
  const denials = [
    ...(requireSignature ? unsigned(signatures) : []),
    ...(judged.ok ? await placeDenials(judged, options, source) : judged.denials),
  ];
  if (judged.ok && denials.length === 0) return { ...judged, warnings };
  return { ok: false, denials, warnings };
}

async function signaturesOf(
  card: JsonObject,
  options: BoundedOptions,
  named: readonly string[],
): Promise<SignatureReading> {
  const { signatures } = card;
  const isUnsigned = !Array.isArray(signatures) || signatures.length === 0;
  const isPlain = signatures === undefined || signatures === null || isUnsigned;
  if (isPlain && (options.trustedKeys ?? []).length === 0 && options.jwksUrl === undefined) {
    return { document: card, denials: [], warnings: [] };
  }
  const jose = await loadJose();
  return readSignatures(jose, card, await trustedKeys(jose, options, named, options));
}

function unsigned({ signedBy, warnings }: SignatureReading): readonly DiscoveryDenial[] {
  if (signedBy !== undefined) return [];
  if (warnings.length === 0) {
    const message = "the card has no signature, and one is required";
    return [{ code: "signature_missing", rule: "requireSignature", message, path: "/signatures" }];
  }
  return warnings.map(({ path, message }) => ({
    code: "signature_untrusted",
    rule: "requireSignature",
    message,
    path,
  }));
}

/**
 * Refuses an interface on a host that callers may not contact, so that a card cannot direct them, with their
 * tokens, to a private host.
 */
async function placeDenials(
  { interface: chosen }: UsableAgent,
  { allowHosts, insecure, resolve, deadline }: BoundedOptions,
  source: Source | undefined,
): Promise<readonly DiscoveryDenial[]> {
  // A caller that passes the card as JSON knows where the card comes from.
  if (source === undefined) return [];
  try {
    const url = readUrl(chosen.url, "the address of the chosen interface", {
      insecure: insecure === true,
    });
    const origins = { named: source.named, allowHosts };
    await assertReachable(url, origins, deadline.left(url), resolve);
    return [];
  } catch (error) {
    if (!(error instanceof ClientError)) throw error;
    return [{ ...fetchDenial(error), rule: "interface" }];
  }
}

/** @throws TypeError if an option is invalid. */
export function checkedOptions(options: DiscoverOptions): DiscoverOptions {
  assertMembers(options, OPTIONS, "options");
  const { timeout, allowHosts = [] } = options;
  if (timeout !== undefined && !(Number.isFinite(timeout) && timeout > 0)) {
    throw new TypeError("options.timeout: must be a number of milliseconds above 0");
  }
  try {
    return { ...options, allowHosts: allowHosts.map(readHostAndPort) };
  } catch (cause) {
    if (!(cause instanceof ClientError)) throw cause;
    throw new TypeError(`options.allowHosts: ${cause.message}`, { cause });
  }
}

/** Returns the origins of a URL that the caller has given. An unreadable URL is refused later. */
export function ownOrigins(address: unknown): readonly string[] {
  if (typeof address !== "string" && !(address instanceof URL)) return [];
  try {
    return readAddress(String(address), { insecure: true }).origins;
  } catch {
    return [];
  }
}

function malformed(message: string): DiscoveryDenial {
  return { code: "card_malformed", rule: "card", message };
}

function refused(
  denials: readonly DiscoveryDenial[],
  warnings: readonly DiscoveryWarning[] = [],
): RefusedAgent {
  return { ok: false, denials, warnings };
}
