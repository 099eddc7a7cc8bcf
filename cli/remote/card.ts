import { isJsonObject, type Json, type JsonObject } from "../../src/bytes/json.js";
import { objectIn, objectsIn, textIn, textsIn } from "../../src/client/received.js";
import type { CardGrant, CardInterface, CardReading } from "../../src/discovery/card.js";
import { extensionParams, readCard as readDiscovery } from "../../src/discovery/read-card.js";
import { EXTENSION_URI } from "../../src/protocols/a2a/extension.js";
import { environmentError } from "../exit.js";

/** The readable parts of an agent's card. Its strings must be escaped before they are displayed. */
export interface RemoteCard {
  readonly name: string;
  readonly version: string;
  readonly description: string;
  readonly interfaces: readonly CardInterface[];
  /** The same card, as discovery reads it. */
  readonly reading: CardReading;
  /** Absent if the agent does not offer capabilities. */
  readonly offer: CapabilityOffer | undefined;
  readonly skills: readonly RemoteSkill[];
  /** The card as received. */
  readonly document: JsonObject;
}

export interface CapabilityOffer {
  /** True if the card declares the extension that this program implements; false if it only lists grants. */
  readonly spoken: boolean;
  /**
   * The agent's treatment of calls without a capability. `declared`: it accepts them only if they declare
   * ambient authority.
   */
  readonly ambient: "accepted" | "declared" | "refused" | "unknown";
  readonly mode: string | undefined;
  readonly issuer: string | undefined;
  /** Longest lifetime of a capability, in seconds. */
  readonly maxLifetime: number | undefined;
  readonly grants: readonly CardGrant[];
  /** The collections that the card lists. A request may name others too. */
  readonly collections: readonly RemoteCollection[];
}

interface RemoteCollection {
  readonly name: string;
  /** The fields that filters can use; empty if the card does not name them. */
  readonly fields: readonly string[];
}

export interface RemoteSkill {
  readonly id: string;
  readonly description: string;
  readonly operation: string | undefined;
  readonly reach: string | undefined;
  readonly target: string | undefined;
  /** JSON Schema of the arguments; absent if the card has no schema. */
  readonly input?: JsonObject;
}

/**
 * Reads an Agent Card leniently: parts that are missing or malformed are left out.
 *
 * @param place - The URL or file of the card, for messages.
 * @throws CliError if the document is not an Agent Card.
 */
export function readCard(document: Json, place: string): RemoteCard {
  if (!isJsonObject(document) || typeof document["name"] !== "string") {
    const hint = "check the address: that of an agent, or of its card";
    throw environmentError("not_a_card", `${place} is not an Agent Card`, hint);
  }
  const reading = readDiscovery(document);
  const { name, version, interfaces, grants } = reading;
  const params = extensionParams(document, EXTENSION_URI);
  const skills = objectIn(params?.["skills"]);
  const isSilent = params === undefined && grants === undefined;
  return {
    name,
    version,
    description: textIn(document["description"]) ?? "",
    interfaces,
    reading,
    offer: isSilent ? undefined : offerFrom(params, document, grants ?? []),
    skills: objectsIn(document["skills"]).map((skill) => skillFrom(skill, skills)),
    document,
  };
}

function offerFrom(
  params: JsonObject | undefined,
  card: JsonObject,
  grants: readonly CardGrant[],
): CapabilityOffer {
  const ambient = params?.["ambientAuthority"] ?? card["ambientAuthority"];
  const required = params?.["capabilitiesRequired"] ?? card["capabilitiesRequired"];
  const lifetime = params?.["maxLifetimeSeconds"];
  const accepted = params?.["undeclaredAmbient"] === "refused" ? "declared" : "accepted";
  const said = ambient === "accepted" ? accepted : ambient === "refused" ? ambient : undefined;
  return {
    spoken: params !== undefined,
    ambient: said ?? (required === true ? "refused" : "unknown"),
    mode: textIn(params?.["mode"]),
    issuer: textIn(params?.["issuer"]),
    maxLifetime: typeof lifetime === "number" ? lifetime : undefined,
    grants,
    collections: objectsIn(params?.["collections"]).flatMap(({ name, fields }) => {
      const known = textIn(name);
      return known === undefined ? [] : [{ name: known, fields: textsIn(fields) }];
    }),
  };
}

function skillFrom(skill: JsonObject, all: JsonObject): RemoteSkill {
  const id = textIn(skill["id"]) ?? "";
  const more = Object.hasOwn(all, id) ? objectIn(all[id]) : {};
  const { operation, reach, target, input } = more;
  return {
    id,
    description: textIn(skill["description"]) ?? textIn(skill["name"]) ?? "",
    operation: textIn(operation),
    reach: textIn(reach),
    target: textIn(target),
    ...(input === undefined ? {} : { input: objectIn(input) }),
  };
}
