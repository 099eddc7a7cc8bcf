import type { AgentMode } from "../../agent/parties/records.js";
import type { JsonObject } from "../../bytes/json.js";

/** The provider's description of itself. */
export interface Provider {
  readonly name: string;
  readonly description: string;
}

/** Paths of the discovery document. A client tries the second path if it finds no document at the first path. */
export const DISCOVERY_PATHS: readonly string[] = [
  "/.well-known/agent-configuration",
  "/api/auth/agent/agent-configuration",
];
/** The path of the search for providers. */
export const SEARCH_PATH = "/api/search";

/** The paths of the endpoints relative to the issuer, by their names in the discovery document. */
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

/** Returns the discovery document of a server at a URL. */
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
