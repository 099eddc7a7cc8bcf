/** The contract's name in cards and `metadata` (docs/spec.md). A breaking change needs a new URI. */
export const DISCOVERY_URI = "urn:proviso:a2a:discovery:1";

/** The URI of the capability extension (docs/a2a.md), whose params hold the grants. */
export const CAPABILITIES_URI = "urn:proviso:a2a:capabilities:1";
