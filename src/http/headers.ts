/**
 * The HTTP header with the tokens of a request. A resource server reads one token. An agent over A2A reads
 * several, separated by commas, for operations without metadata, such as GetTask.
 */
export const CAPABILITY_HEADER = "Proviso-Capability";

/** The HTTP header with the denial codes of a refusal, for clients that do not read the body. */
export const DENIAL_HEADER = "Proviso-Denial";
