import type { AgentMode } from "../../agent/registry/records.js";
import type { JsonObject } from "../../bytes/json.js";

/** What a provider says of itself. */
export interface Provider {
  readonly name: string;
  readonly description: string;
}

/** Where the discovery document stands; clients try the second where the first is not there. */
export const DISCOVERY_PATHS: readonly string[] = [
  "/.well-known/agent-configuration",
  "/api/auth/agent/agent-configuration",
];
/** Where providers are searched by what they offer. */
export const SEARCH_PATH = "/api/search";

/** The paths of the endpoints below the issuer, by their names in the discovery document. */
export const ENDPOINTS = {
  register: "/agent/register",
  capabilities: "/capability/list",
  describe_capability: "/capability/describe",
  execute: "/capability/execute",
  request_capability: "/agent/request-capability",
  status: "/agent/status",
  reactivate: "/agent/reactivate",
  revoke: "/agent/revoke",
  revoke_host: "/host/revoke",
  rotate_key: "/agent/rotate-key",
  rotate_host_key: "/host/rotate-key",
  introspect: "/agent/introspect",
} as const;

/** The discovery document of a server at an address. */
export function discoveryDocument(
  url: string,
  { name, description }: Provider,
  modes: readonly AgentMode[],
): JsonObject {
  return {
    version: "1.0-draft",
    provider_name: name,
    description,
    issuer: url,
    default_location: `${url}${ENDPOINTS.execute}`,
    algorithms: ["Ed25519"],
    modes,
    approval_methods: ["ciba", "device_authorization"],
    endpoints: ENDPOINTS,
  };
}
