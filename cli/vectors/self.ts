import { decodeBase64 } from "../../src/bytes/base64.js";
import type { Json } from "../../src/bytes/json.js";
import { TokenError } from "../../src/bytes/token-error.js";
import type { Decision } from "../../src/capability/authorize.js";
import { CAPABILITY_LIMITS, overCapabilityLimits } from "../../src/capability/limits.js";
import type { Invocation } from "../../src/caveats/invocation.js";
import { parseTime } from "../../src/caveats/time.js";
import { ClientError } from "../../src/client/client-error.js";
import type { CardReading } from "../../src/discovery/card.js";
import { parseCard } from "../../src/discovery/card-text.js";
import { validateChain } from "../../src/discovery/chain.js";
import { judgeItself } from "../../src/discovery/judge.js";
import { readCard } from "../../src/discovery/read-card.js";
import type { CapabilityRegistry } from "../../src/discovery/registry.js";
import type { DiscoveryRequirements } from "../../src/discovery/requirements.js";
import { checkRegistry, checkStability } from "../../src/discovery/stability.js";
import { createIssuer } from "../../src/issuer/issuer.js";
import type { IssuerOptions } from "../../src/issuer/issuer-options.js";
import { importKeyring, type Keyring } from "../../src/issuer/keyring.js";
import { readMacaroons } from "../../src/macaroon/read.js";
import { RootKey } from "../../src/macaroon/root-key.js";
import { verifySignatures } from "../../src/macaroon/signatures.js";
import { chainIdOf } from "../../src/revocation/id.js";
import { RevocationList, type RevocationSnapshot } from "../../src/revocation/list.js";

interface VerifyRequest {
  readonly op: "verify";
  readonly token: string;
  readonly key: string;
}

export interface CheckRequest {
  readonly op: "check";
  readonly token: string;
  readonly issuer: string;
  readonly keys: readonly { readonly kid: string; readonly k: string }[];
  readonly now: string;
  readonly revocations: RevocationSnapshot;
  readonly grants?: IssuerOptions["grants"];
  readonly invocation: AskedInvocation;
}

interface AskedInvocation extends Omit<Invocation, "time"> {
  readonly argumentsText?: string;
  readonly time?: string;
}

export type OwnRequest = VerifyRequest | CheckRequest | DiscoveryRequest;

export function answerHere(request: OwnRequest): { readonly [name: string]: unknown } {
  if (request.op === "verify") return verify(request);
  return request.op === "check" ? check(request) : answerDiscovery(request);
}

function verify({ token, key }: VerifyRequest): { readonly [name: string]: unknown } {
  try {
    const { setMembers: _, ...limits } = CAPABILITY_LIMITS;
    const [root, ...discharges] = readMacaroons(token, limits).macaroons;
    const over = overCapabilityLimits([root, ...discharges], CAPABILITY_LIMITS);
    if (over !== undefined) throw over;
    const rootKey = new RootKey(decodeBase64(key));
    const result = verifySignatures(root, rootKey, discharges, CAPABILITY_LIMITS.nesting);
    if (!result.ok) return { result: "invalid", code: result.failure.code };
    const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString("hex");
    return { result: "valid", tags: result.chains.map(({ tags }) => tags.map(hex)) };
  } catch (error) {
    if (error instanceof TokenError) return { result: "invalid", code: error.code };
    throw error;
  }
}

function check(request: CheckRequest): { readonly [name: string]: unknown } {
  const { token, issuer: name, keys, now, revocations, grants } = request;
  const time = parseTime(now) ?? Number.NaN;
  const issuer = createIssuer({
    name,
    keys: keyringOf(keys),
    revocations: new RevocationList(revocations),
    clock: () => time,
    grants,
  });
  const invocation = invocationFrom(request.invocation);
  let decision: Decision;
  try {
    decision = issuer.authorize(token, invocation);
  } catch (error) {
    if (error instanceof TypeError) return { result: "misuse", message: error.message };
    throw error;
  }
  if (decision.allowed) {
    const { revocationIds } = decision.capability;
    return { result: "allowed", revocationIds, chainId: chainIdOf(revocationIds.at(-1) ?? "") };
  }
  return { result: "refused", denials: decision.denials };
}

/**
 * Returns the keys of a request as a keyring. The first key becomes the key that mints, since every keyring needs such
 * a key.
 */
export function keyringOf(keys: CheckRequest["keys"]): Keyring {
  const jwks = keys.map((key, at) => {
    const uses = at === 0 ? ["sign", "verify"] : ["verify"];
    return { kty: "oct", alg: "HS256", key_ops: uses, iat: 0, ...key };
  });
  return importKeyring({ keys: jwks });
}

function invocationFrom({ argumentsText, time, ...rest }: AskedInvocation): Invocation {
  return {
    ...rest,
    arguments: argumentsText === undefined ? rest.arguments : JSON.parse(argumentsText),
    time: time === undefined ? undefined : new Date(parseTime(time) ?? Number.NaN),
  };
}

interface AskedCard {
  readonly card?: Json;
  readonly cardText?: string;
}

interface DiscoverRequest extends AskedCard {
  readonly op: "discover";
  readonly requirements: DiscoveryRequirements;
  readonly registry?: CapabilityRegistry;
}

interface ChainRequest {
  readonly op: "chain";
  readonly links: readonly (AskedCard & { readonly url: string })[];
  readonly requirements: DiscoveryRequirements;
  readonly maxLength?: number;
}

interface RegistryRequest {
  readonly op: "registry";
  readonly registry: CapabilityRegistry;
  readonly previous?: CapabilityRegistry;
}

type DiscoveryRequest = DiscoverRequest | ChainRequest | RegistryRequest;

// The URL of the card, which is only used in messages.
const ANYWHERE = "https://agent.example";

type Answered = { readonly [name: string]: unknown };

function answerDiscovery(request: DiscoveryRequest): Answered {
  switch (request.op) {
    case "discover":
      return discover(request);
    case "chain":
      return chain(request);
    case "registry":
      return registry(request);
  }
}

function discover({ requirements, registry, ...card }: DiscoverRequest): Answered {
  const result = judgeItself(readingOf(card, registry), requirements, registry);
  if (!result.ok) return { result: "refused", denials: result.denials };
  const warnings = result.warnings.map(({ code }) => code);
  return { result: "usable", interface: result.interface, version: result.version, warnings };
}

function chain({ links, requirements, maxLength }: ChainRequest): Answered {
  const cards = links.map(({ url, ...card }) => ({ url, card: readingOf(card) }));
  const options = maxLength === undefined ? {} : { maxLinks: maxLength };
  const result = validateChain(cards, requirements, options);
  if (result.ok) return { result: "valid" };
  const denials = result.denials.map(({ code, link }) => ({ code, link: link?.index }));
  return { result: "refused", denials };
}

function registry({ registry: asked, previous }: RegistryRequest): Answered {
  const problems = previous === undefined ? checkRegistry(asked) : checkStability(previous, asked);
  if (problems.length === 0) return { result: "valid" };
  return { result: "invalid", rules: problems.map(({ rule }) => rule) };
}

/** Parses the card of a request; `undefined` if its text is not the JSON of a card. */
function readingOf(
  { card = null, cardText }: AskedCard,
  registry?: CapabilityRegistry,
): CardReading {
  return readCard(cardText === undefined ? card : parsed(cardText), registry);
}

function parsed(text: string): Json {
  try {
    return parseCard(text, ANYWHERE);
  } catch (error) {
    if (error instanceof ClientError) return null;
    throw error;
  }
}
