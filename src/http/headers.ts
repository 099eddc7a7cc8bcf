/**
 * The HTTP header with the tokens of a request. A resource server reads one token. An A2A agent reads several
 * tokens, separated by commas, for operations without metadata, such as GetTask.
 */
export const CAPABILITY_HEADER = "Proviso-Capability";

/** The HTTP header with the denial codes of a refusal. Clients can read it without the body. */
export const DENIAL_HEADER = "Proviso-Denial";
