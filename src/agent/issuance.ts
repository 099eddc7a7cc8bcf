// Issues capabilities, for every way in which an agent hands them out: makes the handles, the issuer's hop and
// the stored record. Every token is made from the stored record.

import type { AuthenticToken } from "../capability/authentic-token.js";
import { CAPABILITY_LIMITS } from "../capability/limits.js";
import type { MintedCapability } from "../capability/mint.js";
import { hopsOf } from "../capability/read-token.js";
import type { Hop } from "../caveats/hop.js";
import { meetOf } from "../caveats/meet.js";
import { forOperations } from "../caveats/operation-entries.js";
import { formatTime } from "../caveats/time.js";
import { encodeHop } from "../caveats/write-hop.js";
import type { AgentContext } from "./agent-options.js";
import type { Caller } from "./caller.js";
import type { KnownGrant } from "./grant.js";
import type { IssuedCapability, Ledger } from "./ledger.js";
import { sealedAfter } from "./parties/approval-results.js";
import type { RequestRefusal } from "./refusal.js";
import type { Resource } from "./resources/resource.js";
import { composed } from "./resources/resource-handles.js";

/** A resource as callers see it. */
export interface NamedHandle {
  readonly handle: string;
  readonly displayName: string;
  readonly kind: "item" | "collection";
}

/** A capability as its requester receives it. */
export interface GrantedCapability
  extends Pick<MintedCapability, "id" | "grant" | "token" | "expires" | "revocationId"> {
  /** Absent if the capability names no resources. */
  readonly resourceHandles?: readonly NamedHandle[];
  readonly operations: readonly string[];
  readonly principal: string;
  /** True if the holder may narrow the capability, for example to pass on less authority. */
  readonly attenuable: boolean;
  /** The guarantees that are missing. Set only if the grant wraps a system without capabilities. */
  readonly legacy?: string;
}

/** The guarantees that a legacy capability lacks, in words for the party that receives it. */
export const LEGACY_NOTICE: string =
  "wraps a service that knows no capabilities: not limited to resources named in advance; prefer " +
  "another grant";

/** A resource of a capability, with the issuer's own name and the name that callers see. */
export type NamedResource = Pick<Resource, "name" | "displayName" | "kind">;

/** The contents of a capability to be issued. */
export interface CapabilityContents {
  readonly grant: KnownGrant;
  readonly operations: readonly string[];
  /** Absent if the capability is not limited to resources. */
  readonly resources?: readonly NamedResource[] | undefined;
  /** Limits that the requester sets. They become part of the issuer's hop. */
  readonly restrictions?: Hop;
  /** The hops of other parties, added after the issuer's hop. */
  readonly further?: readonly Hop[];
  /** `YYYY-MM-DDTHH:MM:SSZ`. */
  readonly expires: string;
  /** The resource query by which the capability is issued, as JSON. */
  readonly query?: string | undefined;
  /** The capability's id, if it was chosen before issuance; random unless given. */
  readonly id?: string;
  /** The only service that accepts the capability. */
  readonly service?: string | undefined;
}

/** An issued capability: `granted` is for the requester, `kept` for the ledger. */
export interface Issued {
  readonly ok: true;
  readonly granted: GrantedCapability;
  readonly kept: IssuedCapability;
}

/**
 * Returns the number of each resource name, for {@link issueCapability}.
 *
 * @throws StorageError
 */
export function resourceNumbers(
  resources: readonly NamedResource[] = [],
  { handles }: Pick<AgentContext, "handles">,
): Promise<ReadonlyMap<string, number>> {
  return handles.numbersOf(resources.map(({ name }) => name));
}

/**
 * Issues a capability. The function is synchronous, so that no revocation can happen between the calling code's
 * last check and the issuance.
 *
 * @param numbers - The numbers of the capability's resource names.
 * @returns The capability, not yet recorded; or a refusal if it would be too large.
 */
export function issueCapability(
  contents: CapabilityContents,
  numbers: ReadonlyMap<string, number>,
  { principal, invoker }: Caller,
  context: Pick<AgentContext, "issuer" | "grants">,
): Issued | RequestRefusal {
  const { grant, operations, resources, restrictions = {}, further = [], expires } = contents;
  const named: NamedHandle[] = [];
  let size = 0;
  const { capability, identifier } = context.issuer.issue(
    (draft) => {
      const handles = composed(numbers, draft.handles([...numbers.values()]));
      for (const { name, displayName, kind } of resources ?? []) {
        const handle = handles.get(name);
        if (handle !== undefined) named.push({ handle, displayName, kind });
      }
      const hop = {
        // The request may name several grants, and limit the arguments of operations of each. Keep only the limits on
        // the operations of this capability.
        ...forOperations(sealedAfter(restrictions, further.length), operations),
        operations,
        expires,
        ...(resources === undefined ? {} : { resourceHandles: named.map(({ handle }) => handle) }),
        // Allow only as many further hops as other parties add.
        ...(grant.attenuable ? {} : { maxFurtherHops: further.length }),
      };
      size = encodeHop(hop).length;
      // If the hop is too large, issue a small hop and discard the result. The refusal below then says how to fix the
      // request; the issuer's own error could not.
      const fits = size <= CAPABILITY_LIMITS.caveatBytes ? hop : { expires };
      return { ...fits, grant: grant.id, principal };
    },
    { id: contents.id, service: contents.service },
  );
  const kept: IssuedCapability = {
    id: capability.id,
    identifier,
    hop: hopText(capability.hop),
    principal,
    invoker,
    expires,
    ...(further.length === 0 ? {} : { further: further.map(hopText) }),
    ...(resources === undefined || contents.query === undefined ? {} : { query: contents.query }),
  };
  const made = size <= CAPABILITY_LIMITS.caveatBytes ? remade(kept, context) : undefined;
  if (made === undefined) return tooLarge(contents, size);
  return { ok: true, kept, granted: handedOut(kept, made, named, context) };
}

/**
 * Returns a capability that was issued earlier, in the form in which its requester received it.
 *
 * @param resources - The resources that may be shown; handles of other resources are omitted.
 * @returns `undefined` if the capability's root key no longer exists.
 */
export async function grantedBefore(
  kept: IssuedCapability,
  resources: readonly NamedResource[],
  context: Pick<AgentContext, "issuer" | "grants" | "handles">,
): Promise<GrantedCapability | undefined> {
  const made = remade(kept, context);
  if (made === undefined) return undefined;
  const { id, kid: keyId } = made.authentic.identifier;
  const names = await context.handles.open({ id, keyId }, made.authority.resourceHandles ?? []);
  const handles = new Map([...names].map(([handle, name]) => [name, handle]));
  const named = resources.flatMap(({ name, displayName, kind }): NamedHandle | [] => {
    const handle = handles.get(name);
    return handle === undefined ? [] : { handle, displayName, kind };
  });
  return handedOut(kept, made, named, context);
}

/**
 * Records a capability whose id was chosen before issuance. If concurrent calls record the same id, the first
 * record is kept.
 *
 * @returns The stored record.
 * @throws StorageError if no record is stored.
 */
export async function recordOnce(
  kept: IssuedCapability,
  record: () => Promise<void>,
  ledger: Pick<Ledger, "issued">,
): Promise<IssuedCapability> {
  try {
    await record();
    return kept;
  } catch (error) {
    const other = await ledger.issued(kept.id);
    if (other === undefined) throw error;
    return other;
  }
}

/**
 * Returns the earliest of several expiry times, but at most `now` plus the issuer's longest lifetime.
 * @param now - Milliseconds since 1970, like `ends`.
 */
export function earliestExpiry(
  ends: readonly number[],
  now: number,
  { issuer }: Pick<AgentContext, "issuer">,
): string {
  return formatTime(Math.min(...ends, now + issuer.maxLifetime * 1000));
}

/** Returns the canonical JSON of a hop, as it is stored. */
export function hopText(hop: Hop): string {
  return new TextDecoder().decode(encodeHop(hop));
}

interface Remade {
  readonly token: string;
  readonly authentic: AuthenticToken;
  /** The combined limits of all hops. */
  readonly authority: ReturnType<typeof meetOf>;
}

/**
 * Rebuilds the token of a recorded capability from the stored bytes of each hop.
 * @returns `undefined` if the root key no longer exists, or the token would exceed the size limits.
 */
function remade(
  kept: IssuedCapability,
  { issuer }: Pick<AgentContext, "issuer">,
): Remade | undefined {
  const token = issuer.remake(kept);
  const authentication = token === undefined ? undefined : issuer.authenticate(token);
  if (token === undefined || authentication?.ok !== true) return undefined;
  const authentic = authentication.token;
  return { token, authentic, authority: meetOf([hopsOf(authentic.chains[0].links)]) };
}

function handedOut(
  { id, principal, expires }: IssuedCapability,
  { token, authentic, authority }: Remade,
  named: readonly NamedHandle[],
  { grants }: Pick<AgentContext, "grants">,
): GrantedCapability {
  const { grant } = authentic.identifier;
  const { operations = [], furtherHops } = authority;
  const known = grants.get(grant);
  return {
    id,
    grant,
    token,
    ...(authority.resourceHandles === undefined ? {} : { resourceHandles: named }),
    // Keep the order of the grant.
    operations: known?.operations.filter((one) => operations.includes(one)) ?? operations,
    expires: authority.expires ?? expires,
    revocationId: authentic.chains[0].revocationIds.at(-1) ?? "",
    principal,
    attenuable: furtherHops === undefined || furtherHops > 0,
    ...(known?.legacy === true ? { legacy: LEGACY_NOTICE } : {}),
  };
}

function tooLarge({ grant, resources = [] }: CapabilityContents, size: number): RequestRefusal {
  const message =
    `the capability would take ${size} bytes for its ${resources.length} handles and the other ` +
    `restrictions, and ${CAPABILITY_LIMITS.caveatBytes} is the limit; narrow the filter`;
  return tooManyResources(grant.id, message);
}

/** Refuses a request that matches more resources than a capability can name. */
export function tooManyResources(grant: string, message: string): RequestRefusal {
  const denial = { code: "too_many_resources", message, grants: [grant] } as const;
  return { ok: false, denial: { ...denial, path: "resourceQuery.filter" } };
}
