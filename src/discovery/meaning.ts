import type { Json, JsonObject } from "../bytes/json.js";
import { objectIn, objectsIn, textIn, textsIn } from "../client/received.js";
import type { CardReading } from "./card.js";
import { camelCase, snakeCase } from "./places.js";
import { CAPABILITY_REGISTRY } from "./registry.js";
import { CAPABILITIES_URI, DISCOVERY_URI } from "./uris.js";
import { versionText } from "./versions.js";

// What a card means, whichever way it is written: one object for two cards to be compared by, in which
// everything that has a name stands under that name. Nothing is lost but order and spelling.

/** What the contract lifts out of the card's own places. */
const LIFTED_TOP = both(["minProtocolVersion", "maxProtocolVersion", "capabilityGrants"]);
const LIFTED_PARAMS = both([
  ...["minProtocolVersion", "maxProtocolVersion", "capabilities"],
  ...["interfaces", "delegates"],
]);
const LIFTED_INTERFACE = both(["protocolVersion", "protocolVersions", "tenant"]);
const INTERFACES = both(["supportedInterfaces", "interfaces"]);
const OLDER = ["url", "protocolVersion", "additionalInterfaces", "preferredTransport"];
const KNOWN_FLAGS = both(CAPABILITY_REGISTRY.capabilities.map(({ name }) => camelCase(name)));

/** The card's meaning; of a card that could not be read whole, what could be read. */
export function meaningOf(card: CardReading): JsonObject {
  const isDeep = card.faults.some(({ rule }) => rule === "too_deep");
  const document = isDeep ? {} : card.document;
  const hasInterfaces = INTERFACES.some((name) => Array.isArray(document[name]));
  const own = [...LIFTED_TOP, ...INTERFACES, ...(hasInterfaces ? [] : OLDER)];
  const modes = {
    inputModes: document["defaultInputModes"] ?? [],
    outputModes: document["defaultOutputModes"] ?? [],
  };
  const { skills, capabilities, securityRequirements, ...others } = without(document, own);
  return {
    card: without(others, ["signatures"]),
    signed: card.signatures > 0,
    signatures: others["signatures"] ?? [],
    range: {
      ...(card.range.min === undefined ? {} : { min: versionText(card.range.min) }),
      ...(card.range.max === undefined ? {} : { max: versionText(card.range.max) }),
    },
    capabilities: Object.fromEntries(card.capabilities),
    features: features(objectIn(capabilities), card),
    interfaces: interfaces(card),
    preference: card.interfaces.map(({ url, binding }) => `${binding} ${url}`),
    grants: grants(card),
    delegates: delegates(card),
    extensions: extensions(objectIn(capabilities)),
    security: requirements(securityRequirements),
    skills: skillsIn(skills, modes),
  };
}

/** A2A's own flags, and what else stands under `capabilities`. */
function features(capabilities: JsonObject, card: CardReading): JsonObject {
  const flags = Object.keys(capabilities).filter((name) => card.capabilities.has(name));
  return without(capabilities, [...KNOWN_FLAGS, ...flags, "extensions"]);
}

function interfaces(card: CardReading): JsonObject {
  const list = INTERFACES.flatMap((name) => objectsIn(card.document[name]));
  return byName(
    card.interfaces.map(({ url, binding, tenant, versions }, at) => [
      `${binding} ${url}`,
      {
        versions: [...new Set(versions.map(versionText))].sort(),
        ...(tenant === undefined ? {} : { tenant }),
        more: without(objectIn(list[at]), [
          ...both(["protocolBinding", "url"]),
          ...LIFTED_INTERFACE,
        ]),
      },
    ]),
  );
}

function grants({ grants: read, document }: CardReading): Json {
  if (read === undefined) return null;
  const raw = [
    ...objectsIn(paramsOf(document, CAPABILITIES_URI)["capabilityGrants"]),
    ...objectsIn(document["capabilityGrants"]),
    ...objectsIn(document["capability_grants"]),
  ];
  const known = ["id", "description", "operations", "attenuable", "requires", "legacy", "notice"];
  return byName(
    read.map(({ id, description, operations, attenuable, requires, legacy }) => [
      id,
      {
        ...{ description, attenuable, legacy: legacy !== undefined, notice: legacy ?? "" },
        operations: [...new Set(operations)].sort(),
        requires: [...new Set(requires)].sort(),
        more: without(objectIn(raw.find((one) => one["id"] === id)), known),
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

function skillsIn(value: unknown, modes: { inputModes: Json; outputModes: Json }): JsonObject {
  return byName(
    objectsIn(value).map((skill) => {
      const { id, securityRequirements, tags, examples, ...more } = skill;
      return [
        textIn(id) ?? "",
        {
          ...modes,
          ...more,
          ...{ tags: tags ?? [], examples: examples ?? [] },
          security: requirements(securityRequirements),
        },
      ];
    }),
  );
}

/** Each requirement is one way in; which of them are there is what counts. */
function requirements(value: unknown): Json {
  return objectsIn(value).map((one) => {
    const schemes = Object.entries(objectIn(one["schemes"])).map(([name, value]) => {
      const scopes = textsIn(objectIn(value)["list"]).toSorted().join(" ");
      return scopes === "" ? name : `${name} (${scopes})`;
    });
    return schemes.toSorted().join(" and ");
  });
}

/** Members by name; a name that is there again gets a number, so that none is lost. */
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
