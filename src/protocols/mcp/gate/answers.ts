type Id = string | number | null;

/** Error codes that JSON-RPC defines. */
export const METHOD_NOT_FOUND = -32601;
export const INVALID_PARAMS = -32602;
export const INTERNAL_ERROR = -32603;

/** The error code of MCP's old era by which a server asks the host to open URLs. */
export const URL_ELICITATION_REQUIRED = -32042;

/** The gate's own error codes, outside the range that JSON-RPC and MCP reserve. */
export const REFUSED = -31403;
export const TOO_MANY = -31429;

export function errorAnswer(id: Id, code: number, message: string, data?: object): string {
  return JSON.stringify({ jsonrpc: "2.0", id, error: { code, message, data } });
}

export function resultAnswer(id: Id, result: object): string {
  return JSON.stringify({ jsonrpc: "2.0", id, result });
}

/** Returns the error for a method that is not in the table of methods.ts. */
export function unknownMethod(id: Id, method: string): string {
  return errorAnswer(id, METHOD_NOT_FOUND, `Method not found: ${method}`);
}
