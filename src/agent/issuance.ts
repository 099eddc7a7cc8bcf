import { CAPABILITY_LIMITS } from "../capability/limits.js";
import type { MintedCapability } from "../capability/mint.js";
import { formatTime, parseTime } from "../caveats/time.js";
import { encodeHop } from "../caveats/write-hop.js";
import type { AgentContext } from "./agent-options.js";
import type { Caller } from "./caller.js";
import type { CapabilityRequest } from "./capability-request.js";
import type { IssuedCapability } from "./ledger.js";
import type { Offer } from "./offer.js";
import { invalidRequest, type RequestRefusal } from "./refusal.js";
import { composed } from "./resources/resource-handles.js";

/** A resource as a caller knows it. */
export interface NamedHandle {
  readonly handle: string;
  readonly displayName: string;
  readonly kind: "item" | "collection";
}

/** A capability as it is handed to the caller that asked for it. */
export interface GrantedCapability
  extends Pick<MintedCapability, "id" | "grant" | "token" | "expires" | "revocationId"> {
  /** Absent if the capability names no resources. */
  readonly resourceHandles?: readonly NamedHandle[];
  readonly operations: readonly string[];
  readonly principal: string;
  /** Whether it may be narrowed and passed on. */
  readonly attenuable: boolean;
  /** Present if the grant wraps something that knows no capabilities: with what that means. */
  readonly legacy?: string;
}

/** What a legacy capability does not promise, in words for the party that receives one. */
export const LEGACY_NOTICE: string =
  "wraps a service that knows no capabilities: not limited to resources named in advance; prefer " +
  "another grant";

const HOP_BYTES = CAPABILITY_LIMITS.caveatBytes;

/** Capabilities as handed out, and as kept, in the same order. */
export interface Issuance {
  readonly ok: true;
  readonly granted: readonly GrantedCapability[];
  readonly kept: readonly IssuedCapability[];
}

/** One capability for each offer, or the reason why none. @throws StorageError Then nothing was issued. */
export async function issueOffers(
  offers: readonly Offer[],
  request: CapabilityRequest,
  caller: Caller,
  context: AgentContext,
): Promise<Issuance | RequestRefusal> {
  const { principal, invoker } = caller;
  const now = context.clock();
  const expires = expiryOf(request, now, context);
  const refusal = wrongTimes(request, expires, now) ?? tooMany(offers, context.maxHandles);
  if (refusal !== undefined) return refusal;
  const granted: GrantedCapability[] = [];
  const kept: IssuedCapability[] = [];
  const query = request.resourceQuery && JSON.stringify(request.resourceQuery);
  for (const offer of offers) {
    const { grant, operations, resources = [] } = offer;
    const numbers = await context.handles.numbersOf(resources.map(({ name }) => name));
    const named: NamedHandle[] = [];
    let size = 0;
    const { capability, identifier } = context.issuer.issue((draft) => {
      const handles = composed(numbers, draft.handles([...numbers.values()]));
      for (const { name, displayName, kind } of resources) {
        const handle = handles.get(name);
        if (handle !== undefined) named.push({ handle, displayName, kind });
      }
      const hop = {
        ...request.restrictions,
        operations,
        expires,
        ...(offer.resources && { resourceHandles: named.map(({ handle }) => handle) }),
        ...(grant.attenuable ? {} : { maxFurtherHops: 0 }),
      };
      size = encodeHop(hop).length;
      // Checked here: the issuer's own error could not say what the caller can do about it.
      const fits = size <= HOP_BYTES ? hop : { expires };
      return { ...fits, grant: grant.id, principal };
    });
    if (size > HOP_BYTES) return tooLarge(offer, size);
    const { id, token, revocationId, hop } = capability;
    granted.push({
      ...{ id, grant: grant.id, token },
      ...(offer.resources === undefined ? {} : { resourceHandles: named }),
      ...{ operations, expires, revocationId, principal },
      attenuable: hop.maxFurtherHops !== 0,
      ...(grant.legacy ? { legacy: LEGACY_NOTICE } : {}),
    });
    kept.push({
      ...{ id, identifier, principal, invoker, expires },
      hop: new TextDecoder().decode(encodeHop(hop)),
      ...(query === undefined || offer.resources === undefined ? {} : { query }),
    });
  }
  return { ok: true, granted, kept };
}

/** When a capability expires that is asked for now. */
export function expiryOf(
  { restrictions: { expires } }: CapabilityRequest,
  now: number,
  { issuer, lifetime }: AgentContext,
): string {
  const latest = now + issuer.maxLifetime * 1000;
  const wanted = expires === undefined ? now + lifetime * 1000 : (parseTime(expires) ?? latest);
  return formatTime(Math.min(wanted, latest));
}

/** What the issuer would take for its own mistake: times that leave no moment between them. */
export function wrongTimes(
  { restrictions: { notBefore } }: CapabilityRequest,
  expires: string,
  now: number,
): RequestRefusal | undefined {
  if (expires <= formatTime(now)) {
    return invalidRequest("expires", `expires ${expires} is not after now`);
  }
  // A hop as read has its times in canonical form, which order as text.
  if (notBefore === undefined || notBefore < expires) return undefined;
  return invalidRequest("notBefore", `notBefore ${notBefore} is not before expires, ${expires}`);
}

/** Refuses offers of more resources than a capability may name. */
export function tooMany(offers: readonly Offer[], most: number): RequestRefusal | undefined {
  const over = offers.find(({ resources = [] }) => resources.length > most);
  if (over === undefined) return undefined;
  const { grant, resources = [] } = over;
  const message =
    `the query matches ${resources.length} resources, and a capability names at most ${most}; ` +
    "narrow the filter";
  return tooManyResources(grant.id, message);
}

function tooLarge({ grant, resources = [] }: Offer, size: number): RequestRefusal {
  const message =
    `the capability would take ${size} bytes for its ${resources.length} handles and the other ` +
    `restrictions, and ${HOP_BYTES} is the limit; narrow the filter`;
  return tooManyResources(grant.id, message);
}

function tooManyResources(grant: string, message: string): RequestRefusal {
  const denial = { code: "too_many_resources", message, grants: [grant] } as const;
  return { ok: false, denial: { ...denial, path: "resourceQuery.filter" } };
}
