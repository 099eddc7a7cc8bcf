// src/protocols/mcp/server: the MCP servers behind the gate, over standard streams or Streamable HTTP. Messages
// are texts here: what may be sent and who may read an answer is decided in gate/.

/**
 * Reasons why a server cannot be used:
 * - `server_unavailable`: it does not start, or its address cannot be reached;
 * - `server_ended`: its process has ended, or it has ended the session;
 * - `server_timeout`: it does not read, or does not answer, in time;
 * - `server_unreadable`: it sends what is no message of MCP.
 */
export type ServerErrorCode =
  | "server_unavailable"
  | "server_ended"
  | "server_timeout"
  | "server_unreadable";

/** A server that cannot be used, or has failed to take a message. Its message names the server and holds no secret. */
export class ServerError extends Error {
  override readonly name = "ServerError";
  readonly code: ServerErrorCode;

  constructor(code: ServerErrorCode, message: string) {
    super(message);
    this.code = code;
  }
}

/** The options of a message to a server over HTTP; a server over standard streams ignores them. */
export interface SendContext {
  /** The `Mcp-Param-*` headers of the caller. */
  readonly headers?: { readonly [name: string]: string } | undefined;
  /** Ends the exchange when it is aborted; in the new era, this cancels the request. */
  readonly signal?: AbortSignal | undefined;
  /** The era of the message; the old one unless given. */
  readonly era?: "old" | "new" | undefined;
}

/** Says with which request of the gate a message came. */
export interface Origin {
  /** The id, as the gate has sent it, of the request in whose HTTP answer the message came. */
  readonly forRequest?: string | number | undefined;
}

/** The end of a server. */
export interface ServerEnd {
  readonly code: ServerErrorCode;
  /** A sentence that names the server and holds no secret. */
  readonly message: string;
}

/** One MCP server behind the gate. */
export interface ServerConnection {
  /** The name of the server in the configuration file; `undefined` for a gate's only server. */
  readonly name: string | undefined;
  /**
   * Sends one message. Fulfilled when the server has taken it, so that a caller who waits never fills the memory.
   * Over HTTP the answers arrive by {@link onMessage}, some of them before this is fulfilled.
   *
   * @throws ServerError
   */
  send(text: string, context?: SendContext): Promise<void>;
  /**
   * Called with each message of the server, one at a time: the next is read when the returned promise is fulfilled. It
   * must not wait for {@link send}, since the server may not read before its own output is read.
   * Set it before the first `send`. A line over the limit that answers a request arrives as a JSON-RPC error with the
   * request's id.
   */
  onMessage: (text: string, origin: Origin) => Promise<void>;
  /** Called once, when the server has ended or cannot be read any more. Set it before the first `send`. */
  onEnd: (end: ServerEnd) => void;
  /** Ends the server and everything that it has started. Fulfilled when it has ended. */
  close(): Promise<void>;
}

/** JSON-RPC codes of the failures, outside the range that JSON-RPC and MCP reserve. */
const FAILURES: Readonly<Record<ServerErrorCode, number>> = {
  server_unavailable: -31503,
  server_ended: -31503,
  server_timeout: -31504,
  server_unreadable: -31502,
};

/** The answer to a request whose server has failed. */
export function serverFailure(id: string | number, { code, message }: ServerEnd): string {
  const error = { code: FAILURES[code], message, data: { code } };
  return JSON.stringify({ jsonrpc: "2.0", id, error });
}
