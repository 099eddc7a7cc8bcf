import { isJsonObject, type Json, type JsonObject } from "../bytes/json.js";
import { objectIn, objectsIn, textIn, textsIn } from "../client/received.js";
import { CAPABILITIES_URI, type CardInterface, type CardReading, DISCOVERY_URI } from "./card.js";
import { hasOlderForm } from "./card-version.js";
import { camelCase, listIn, snakeCase } from "./fields.js";
import { CAPABILITY_REGISTRY } from "./registry.js";
import { rangeText, type VersionRange } from "./versions.js";

// Two cards are compared by their meanings. A meaning is an object with one property for each named part of a
// card. It does not depend on spelling or order.

/**
 * Fields of the discovery contract at the top level of a card. They are left out of the raw properties, because
 * their parsed values are compared.
 */
const LIFTED_TOP = both(["minProtocolVersion", "maxProtocolVersion", "capabilityGrants"]);
const LIFTED_PARAMS = both([
  "minProtocolVersion",
  "maxProtocolVersion",
  "capabilities",
  "interfaces",
  "delegates",
]);
const LIFTED_INTERFACE = both([
  "url",
  "protocolBinding",
  "transport",
  "preferredTransport",
  "tenant",
  "protocolVersion",
  "protocolVersions",
]);
const INTERFACES = both(["supportedInterfaces"]);
/** Top-level properties of a card of A2A before 1.0 that describe its interfaces. */
const OLDER = ["url", "protocolVersion", "protocolVersions", "preferredTransport"];
const OLDER_LISTS = ["additionalInterfaces", "supportsAuthenticatedExtendedCard"];
const KNOWN_FLAGS = both(CAPABILITY_REGISTRY.capabilities.map(({ name }) => camelCase(name)));

/** Maximum number of modes that are copied from a card to its skills, in total. */
const MOST_FILLED = 1_000_000;
/**
 * Used in place of the card's modes once {@link MOST_FILLED} modes have been copied. The skill is then reported as
 * changed.
 */
const NOT_FILLED = ["those of the card"];

/** Returns the meanings of two cards, as far as the cards could be read. */
export function meaningsOf(
  before: CardReading,
  after: CardReading,
): readonly [before: JsonObject, after: JsonObject] {
  const own = new Set([before, after].flatMap(({ document }) => ownModes(document)));
  return [meaningOf(before, own), meaningOf(after, own)];
}

/**
 * Returns a key for each list of modes that a skill has itself. If the skill has its own list in only one of
 * two cards, that list is compared with the default list of the other card.
 */
function ownModes(document: JsonObject): readonly string[] {
  return objectsIn(document["skills"]).flatMap((skill) =>
    MODES.filter((name) => Object.hasOwn(skill, name)).map((name) => modeKey(skill, name)),
  );
}

function modeKey({ id }: JsonObject, name: string): string {
  return `${name} ${textIn(id) ?? ""}`;
}

function meaningOf(card: CardReading, own: ReadonlySet<string>): JsonObject {
  const isDeep = card.faults.some(({ rule }) => rule === "too_deep");
  const document = isDeep ? {} : card.document;
  const older = hasOlderForm(document) ? [...OLDER, ...OLDER_LISTS] : [];
  const lifted = [...LIFTED_TOP, ...INTERFACES, ...older];
  const modes = {
    inputModes: document["defaultInputModes"] ?? [],
    outputModes: document["defaultOutputModes"] ?? [],
  };
  const { skills, capabilities, securitySchemes, ...others } = without(document, lifted);
  return {
    card: {
      ...without(others, ["signatures", ...REQUIREMENTS]),
      ...(securitySchemes === undefined ? {} : { securitySchemes: schemes(securitySchemes) }),
    },
    signed: card.signatures > 0,
    signatures: others["signatures"] ?? [],
    ...(rangeText(card.range) === "any" ? {} : { range: rangeText(card.range) }),
    capabilities: Object.fromEntries(card.capabilities),
    features: features(objectIn(capabilities), card),
    interfaces: interfaces(card),
    preference: [...new Set(card.interfaces.map(addressOf))],
    grants: grants(card),
    delegates: delegates(card),
    extensions: extensions(objectIn(capabilities)),
    security: requirements(document),
    skills: skillsIn(skills, modes, own),
  };
}

/** Returns the properties of `capabilities` that are not read as capabilities. */
function features(capabilities: JsonObject, card: CardReading): JsonObject {
  const others = without(capabilities, [...KNOWN_FLAGS, "extensions"]);
  return Object.fromEntries(
    Object.entries(others).filter(([name]) => !card.capabilities.has(name)),
  );
}

/**
 * Returns interfaces by binding, URL and tenant. A card may list an interface several times, with different
 * versions.
 */
function interfaces(card: CardReading): JsonObject {
  const places = new Map<string, readonly CardInterface[]>();
  for (const one of card.interfaces) {
    const place = addressOf(one);
    places.set(place, [...(places.get(place) ?? []), one]);
  }
  return Object.fromEntries(
    [...places].map(([place, ones]) => {
      const more = ones.map((one) => [one.versionText, otherMembers(card, one)] as const);
      return [
        place,
        {
          versions: ones.flatMap(({ speaks }) => speaks.map(writtenRange)).toSorted(byText),
          more: byName(more.filter(([, members]) => Object.keys(members).length > 0)),
        },
      ];
    }),
  );
}

/**
 * Returns binding, URL and tenant. Requests must name the tenant, so the same URL with another tenant is
 * another interface.
 */
function addressOf({ url, binding, tenant }: CardInterface): string {
  return `${binding} ${url}${tenant === undefined ? "" : ` (tenant ${tenant})`}`;
}

function writtenRange({ min, max }: VersionRange): JsonObject {
  return {
    ...(min === undefined ? {} : { min: { ...min } }),
    ...(max === undefined ? {} : { max: { ...max } }),
  };
}

function byText(a: JsonObject, b: JsonObject): number {
  return JSON.stringify(a) < JSON.stringify(b) ? -1 : 1;
}

/** Returns the properties of an interface that were not parsed. */
function otherMembers({ document }: CardReading, { path }: CardInterface): JsonObject {
  const [, list = "", at = ""] = path.split("/");
  return without(objectIn(listIn(document[list])[Number(at)]), LIFTED_INTERFACE);
}

function grants({ grants: read, document }: CardReading): Json {
  if (read === undefined) return null;
  const raw = [
    ...objectsIn(paramsOf(document, CAPABILITIES_URI)["capabilityGrants"]),
    ...objectsIn(document["capabilityGrants"]),
    ...objectsIn(document["capability_grants"]),
  ];
  const byId = new Map(raw.toReversed().map((one) => [one["id"], one]));
  const known = ["id", "description", "operations", "attenuable", "requires", "legacy", "notice"];
  return byName(
    read.map(({ id, description, operations, attenuable, requires, legacy }) => [
      id,
      {
        description,
        attenuable,
        legacy: legacy !== undefined,
        notice: legacy ?? "",
        operations: [...new Set(operations)].sort(),
        requires: [...new Set(requires)].sort(),
        more: without(objectIn(byId.get(id)), known),
      },
    ]),
  );
}

function delegates({ delegates: read }: CardReading): Json {
  if (read === undefined) return null;
  return byName(read.map(({ url, capabilities }) => [url, [...new Set(capabilities)].sort()]));
}

function extensions(capabilities: JsonObject): JsonObject {
  return byName(
    objectsIn(capabilities["extensions"]).map((extension) => {
      const { uri, params, required, description, ...more } = extension;
      const lifted =
        uri === DISCOVERY_URI ? LIFTED_PARAMS : uri === CAPABILITIES_URI ? LIFTED_TOP : [];
      const said = {
        required: required === true,
        description: description ?? "",
        params: without(objectIn(params), lifted),
        ...more,
      };
      return [textIn(uri) ?? "", said];
    }),
  );
}

const MODES = ["inputModes", "outputModes"] as const;

/** @param own - Keys of the lists of modes that skills have themselves, in either card. */
function skillsIn(
  value: unknown,
  modes: Readonly<Record<(typeof MODES)[number], Json>>,
  own: ReadonlySet<string>,
): JsonObject {
  let left = MOST_FILLED;
  const size = {
    inputModes: textsIn(modes.inputModes).length,
    outputModes: textsIn(modes.outputModes).length,
  };
  const filled = (skill: JsonObject): JsonObject => {
    const missing = MODES.filter((name) => own.has(modeKey(skill, name)));
    return Object.fromEntries(
      missing.map((name) => {
        left -= size[name];
        return [name, left < 0 ? NOT_FILLED : modes[name]];
      }),
    );
  };
  return byName(
    objectsIn(value).map((skill) => {
      const { id, tags, examples, ...more } = skill;
      return [
        textIn(id) ?? "",
        {
          ...filled(skill),
          ...without(more, REQUIREMENTS),
          tags: tags ?? [],
          examples: examples ?? [],
          security: requirements(skill),
        },
      ];
    }),
  );
}

/** Names of the property with the security requirements: first in A2A 1.0, then in A2A 0.x. */
const REQUIREMENTS = [...both(["securityRequirements"]), "security"];

/** Returns each alternative of the security requirements as one string with sorted schemes and scopes. */
function requirements(holder: JsonObject): Json {
  return objectsIn(REQUIREMENTS.map((name) => holder[name]).find(Array.isArray)).map((one) => {
    const all = one["schemes"];
    const named = isJsonObject(all ?? null) ? objectIn(all) : one;
    const words = Object.entries(named).map(([name, value]) => {
      const scopes = textsIn(Array.isArray(value) ? value : objectIn(value)["list"]);
      return scopes.length === 0 ? name : `${name} (${scopes.toSorted().join(" ")})`;
    });
    return words.toSorted().join(" and ");
  });
}

/** The types of security scheme in A2A 0.x, each with its property in A2A 1.0. */
const SCHEME_KINDS: ReadonlyMap<string, string> = new Map([
  ["apiKey", "apiKeySecurityScheme"],
  ["http", "httpAuthSecurityScheme"],
  ["oauth2", "oauth2SecurityScheme"],
  ["openIdConnect", "openIdConnectSecurityScheme"],
  ["mutualTLS", "mtlsSecurityScheme"],
]);

/** Converts security schemes to the form of A2A 1.0. */
function schemes(value: unknown): JsonObject {
  return Object.fromEntries(
    Object.entries(objectIn(value)).map(([name, scheme]): [string, Json] => {
      const { type, in: location, ...members } = objectIn(scheme);
      const kind = SCHEME_KINDS.get(textIn(type) ?? "");
      if (kind === undefined) return [name, scheme];
      return [name, { [kind]: { ...members, ...(location === undefined ? {} : { location }) } }];
    }),
  );
}

/** Indexes objects by name. Repeated names get a number, so that no object is lost. */
function byName(entries: readonly (readonly [string, Json])[]): JsonObject {
  const counts = new Map<string, number>();
  return Object.fromEntries(
    entries.map(([name, value]): readonly [string, Json] => {
      const count = (counts.get(name) ?? 0) + 1;
      counts.set(name, count);
      return [count === 1 ? name : `${name} (${count})`, value];
    }),
  );
}

function paramsOf(card: JsonObject, uri: string): JsonObject {
  const list = objectsIn(objectIn(card["capabilities"])["extensions"]);
  return objectIn(list.find((one) => one["uri"] === uri)?.["params"]);
}

function without(value: JsonObject, names: readonly string[]): JsonObject {
  return Object.fromEntries(Object.entries(value).filter(([name]) => !names.includes(name)));
}

function both(names: readonly string[]): readonly string[] {
  return names.flatMap((name) => [name, snakeCase(name)]);
}
