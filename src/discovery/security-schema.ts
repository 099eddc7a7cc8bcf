import type { Json, JsonObject } from "../bytes/json.js";

const text = { type: "string" };
const url = { type: "string", format: "url" };
const scopes = { type: "object", additionalProperties: text };

/** Returns the schema of an object with only these properties. */
export function closed(properties: JsonObject, required: readonly string[] = []): JsonObject {
  return { type: "object", required, additionalProperties: false, properties };
}

/** Returns the schema of an object with exactly one of these properties: a `oneof` of Protocol Buffers. */
function oneOf(properties: JsonObject): JsonObject {
  const names = Object.keys(properties);
  return { ...closed(properties), oneOf: names.map((name) => ({ required: [name] })) };
}

function flow(required: readonly string[], more: JsonObject = {}): Json {
  const urls = required.filter((name) => name !== "scopes");
  const members = Object.fromEntries(urls.map((name): [string, Json] => [name, url]));
  return closed({ ...members, refreshUrl: url, scopes, ...more }, required);
}

/** Definitions for authentication in the schema of an Agent Card. */
export const SECURITY_DEFINITIONS: JsonObject = {
  securityRequirement: closed(
    {
      schemes: {
        type: "object",
        description: "Required scopes, by the name of the security scheme.",
        additionalProperties: closed({ list: { type: "array", items: text } }),
      },
    },
    ["schemes"],
  ),
  securityScheme: oneOf({
    apiKeySecurityScheme: closed(
      { description: text, location: { enum: ["query", "header", "cookie"] }, name: text },
      ["location", "name"],
    ),
    httpAuthSecurityScheme: closed({ description: text, scheme: text, bearerFormat: text }, [
      "scheme",
    ]),
    oauth2SecurityScheme: closed(
      { description: text, flows: { $ref: "#/$defs/oauthFlows" }, oauth2MetadataUrl: url },
      ["flows"],
    ),
    openIdConnectSecurityScheme: closed({ description: text, openIdConnectUrl: url }, [
      "openIdConnectUrl",
    ]),
    mtlsSecurityScheme: closed({ description: text }),
  }),
  oauthFlows: oneOf({
    authorizationCode: flow(["authorizationUrl", "tokenUrl", "scopes"], {
      pkceRequired: { type: "boolean" },
    }),
    clientCredentials: flow(["tokenUrl", "scopes"]),
    implicit: closed({ authorizationUrl: url, refreshUrl: url, scopes }),
    password: closed({ tokenUrl: url, refreshUrl: url, scopes }),
    deviceCode: flow(["deviceAuthorizationUrl", "tokenUrl", "scopes"]),
  }),
};
