/** The contract's name in cards and `metadata` (docs/spec.md). A breaking change needs a new URI. */
export const DISCOVERY_URI = "urn:proviso:a2a:discovery:1";

/** What agents and clients call the capability extension by (docs/a2a.md); its params hold the grants. */
export const CAPABILITIES_URI = "urn:proviso:a2a:capabilities:1";
