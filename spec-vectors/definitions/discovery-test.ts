import type { JsonValue } from "./check-test.js";
import type { Flag } from "./notes.js";

/** A JSON object as a test writes it. */
export type Members = { readonly [name: string]: JsonValue };

/** A card: as JSON, or as text for cases that parsing and writing would change. */
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

/** One agent of a chain: its address and its card. */
export type ChainLink = { readonly url: string } & Card;

/** Defines a test of `capability-discovery.json`: `asked` is the request, `answer` the expected answer. */
export interface DiscoveryTest {
  readonly comment: string;
  readonly flags: readonly Flag[];
  readonly asked: object;
  readonly answer: object;
}

/** The tests of one subject, all of one operation of the protocol. */
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
  /** Its position in the card. */
  readonly interface?: number;
  readonly version?: string;
  readonly warnings?: readonly string[];
}

/** A usable card: by its first interface, in version 1.0 and without warnings, unless `chosen` says otherwise. */
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
  // Before A2A 1.0 the first one is at the top of the card.
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

/** A card that is refused for these reasons. */
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

/** A card that is malformed, and otherwise usable. */
export function malformed(comment: string, flags: Flags, card: Card): DiscoveryTest {
  return refused(comment, flags, card, {}, "card_malformed");
}

/** The same test of `discover` with another registry than the specification's. */
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

/** A chain that is refused; each denial is `code@link`. */
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

/** A registry, or a successor of `previous`, that keeps every rule of section 14.2. */
export function keeps(comment: string, flags: Flags, asked: Registries): DiscoveryTest {
  return test(comment, flags, asked, { result: "valid" });
}

/** A registry that breaks these rules. */
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
