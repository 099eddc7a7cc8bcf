import { errorText, METHOD_NOT_FOUND } from "../message/message.js";

/** The error code of MCP's old era by which a server asks the host to open URLs. */
export const URL_ELICITATION_REQUIRED = -32042;

/** The gate's own error codes, outside the range that JSON-RPC and MCP reserve. */
export const REFUSED = -31403;
export const TOO_MANY = -31429;

/** Returns the error for a method that is not in the table of methods.ts. */
export function unknownMethod(id: string | number | null, method: string): string {
  return errorText(id, METHOD_NOT_FOUND, `Method not found: ${method}`);
}
