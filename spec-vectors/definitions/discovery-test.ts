import type { JsonValue } from "./check-test.js";
import type { Flag } from "./notes.js";

export type Members = { readonly [name: string]: JsonValue };

/** A card: as JSON, or as text where parsing and writing would change the text. */
export type Card = { readonly card: JsonValue } | { readonly cardText: string };

/** A caller's requirements of a card. */
export interface Requirements {
  readonly protocolVersion?: string;
  readonly capabilities?: readonly string[];
  readonly endToEnd?: readonly string[];
  readonly grants?: readonly {
    readonly grant: string;
    readonly operations?: readonly string[];
    readonly attenuable?: boolean;
  }[];
  readonly binding?: "JSONRPC" | "HTTP+JSON" | "GRPC";
  readonly allowLegacy?: boolean;
  readonly allowDeprecated?: boolean;
}

/** One agent of a chain, with its URL and its card. */
export type ChainLink = { readonly url: string } & Card;

/** One test of `capability-discovery.json`. `asked` is the request, `answer` the expected answer. */
export interface DiscoveryTest {
  readonly comment: string;
  readonly flags: readonly Flag[];
  readonly asked: object;
  readonly answer: object;
}

/** Tests of one subject. All of them are requests for the same operation. */
export interface DiscoverySubject {
  readonly type: "discover" | "chain" | "registry";
  readonly subject: string;
  readonly comment: string;
  readonly tests: readonly DiscoveryTest[];
}

type Flags = Flag | readonly Flag[];

function test(comment: string, flags: Flags, asked: object, answer: object): DiscoveryTest {
  return { comment, flags: [flags].flat(), asked, answer };
}

interface Chosen {
  /** The index of the interface in the card. */
  readonly interface?: number;
  readonly version?: string;
  readonly warnings?: readonly string[];
}

/**
 * Defines a test of a usable card. By default, the first interface is chosen, with version 1.0 and without
 * warnings.
 */
export function usable(
  comment: string,
  flags: Flags,
  card: Card,
  requirements: Requirements = {},
  chosen: Chosen = {},
): DiscoveryTest {
  const { interface: at = 0, version = "1.0", warnings = [] } = chosen;
  const expected = { interface: interfaceAt(card, at), version, warnings };
  return test(comment, flags, { ...card, requirements }, { result: "usable", ...expected });
}

function interfaceAt(card: Card, at: number): object {
  const written: Members = JSON.parse("card" in card ? JSON.stringify(card.card) : card.cardText);
  const listed = objectsIn(written["supportedInterfaces"] ?? written["supported_interfaces"]);
  // In cards before A2A 1.0, the first interface is at the top of the card.
  const older = [
    { url: written["url"], protocolBinding: written["preferredTransport"] ?? "JSONRPC" },
    ...objectsIn(written["additionalInterfaces"]).map(({ url, transport }) => ({
      url,
      protocolBinding: transport,
    })),
  ];
  const all: readonly Partial<Members>[] = listed.length > 0 ? listed : older;
  const { url, protocol_binding: other, protocolBinding = other } = all[at] ?? {};
  if (url === undefined || protocolBinding === undefined) throw new Error(`no interface ${at}`);
  return { url, binding: protocolBinding };
}

function objectsIn(value: unknown): readonly Members[] {
  return Array.isArray(value) ? value : [];
}

/** Defines a test of a card that is refused for the given reasons. */
export function refused(
  comment: string,
  flags: Flags,
  card: Card,
  requirements: Requirements,
  ...codes: readonly [string, ...string[]]
): DiscoveryTest {
  const denials = codes.map((code) => ({ code }));
  return test(comment, flags, { ...card, requirements }, { result: "refused", denials });
}

/** Defines a test of a card that is malformed, but has no other fault. */
export function malformed(comment: string, flags: Flags, card: Card): DiscoveryTest {
  return refused(comment, flags, card, {}, "card_malformed");
}

/** Returns the same test with another registry than the specification's. */
export function byRegistry(registry: object, { asked, ...rest }: DiscoveryTest): DiscoveryTest {
  return { ...rest, asked: { ...asked, registry } };
}

interface Path {
  readonly requirements?: Requirements;
  readonly maxLength?: number;
  readonly links: readonly ChainLink[];
}

export function validChain(comment: string, flags: Flags, path: Path): DiscoveryTest {
  return test(comment, flags, chainOf(path), { result: "valid" });
}

/** Defines a test of a refused chain. Each denial is written as `code@link`. */
export function refusedChain(
  comment: string,
  flags: Flags,
  path: Path,
  ...denials: readonly [string, ...string[]]
): DiscoveryTest {
  const parts = denials.map((denial) => {
    const [code, link] = denial.split("@");
    return { code, link: Number(link) };
  });
  return test(comment, flags, chainOf(path), { result: "refused", denials: parts });
}

function chainOf({ requirements = {}, maxLength, links }: Path): object {
  return { links, requirements, ...(maxLength === undefined ? {} : { maxLength }) };
}

/** Defines a test of a registry, or of a successor of `previous`, that keeps every rule of section 14.2. */
export function keeps(comment: string, flags: Flags, asked: Registries): DiscoveryTest {
  return test(comment, flags, asked, { result: "valid" });
}

/** Defines a test of a registry that breaks the given rules of section 14.2. */
export function breaks(
  comment: string,
  flags: Flags,
  asked: Registries,
  ...rules: readonly [number, ...number[]]
): DiscoveryTest {
  return test(comment, flags, asked, { result: "invalid", rules });
}

interface Registries {
  readonly registry: Members;
  readonly previous?: Members;
}
