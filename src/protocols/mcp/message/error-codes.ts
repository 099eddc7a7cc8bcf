// The JSON-RPC error codes that the gate writes or knows. server/connection.ts has the codes of a server's failures.

/** Error codes of JSON-RPC. */
export const PARSE_ERROR = -32700;
export const INVALID_REQUEST = -32600;
export const METHOD_NOT_FOUND = -32601;
export const INVALID_PARAMS = -32602;
export const INTERNAL_ERROR = -32603;

/** Error codes of MCP, revision 2026-07-28. */
export const HEADER_MISMATCH = -32020;
export const MISSING_CLIENT_CAPABILITY = -32021;
export const UNSUPPORTED_VERSION = -32022;

/** The error code of MCP's old era by which a server asks the host to open URLs. */
export const URL_ELICITATION_REQUIRED = -32042;

/** Error codes of the gate, outside the range that JSON-RPC and MCP reserve. */
export const REFUSED = -31403;
export const TOO_LARGE = -31413;
export const TOO_MANY = -31429;
