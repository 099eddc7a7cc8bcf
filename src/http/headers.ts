/**
 * HTTP header with the tokens of a request: one for a resource server; for an agent over A2A several,
 * separated by commas, in operations that have no metadata, such as GetTask.
 */
export const CAPABILITY_HEADER = "Proviso-Capability";

/** HTTP header with the denial codes of a refusal, for clients that keep nothing of its body. */
export const DENIAL_HEADER = "Proviso-Denial";
