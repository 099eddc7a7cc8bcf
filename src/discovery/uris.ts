/**
 * What agents call the card contract by, in `capabilities.extensions` of an Agent Card and in `metadata`
 * (docs/spec.md, "Capability declaration and discovery"). A breaking change needs a new URI.
 */
export const DISCOVERY_URI = "urn:proviso:a2a:discovery:1";

/** What agents and clients call the capability extension by (docs/a2a.md); its params hold the grants. */
export const CAPABILITIES_URI = "urn:proviso:a2a:capabilities:1";
