// src/protocols/mcp/server: connections to the MCP servers behind the gate, over standard streams or Streamable HTTP. A
// connection passes messages on as text; the code in gate/ decides which messages are sent and who gets an answer.

import { type Era, errorText, type Message } from "../message/message.js";
import { stringAt, valueAt } from "../message/values.js";

/**
 * Reasons why a server cannot be used:
 * - `server_unavailable`: it does not start, or its address cannot be reached;
 * - `server_ended`: its process has ended, or it has ended the session;
 * - `server_timeout`: it does not read or answer in time;
 * - `server_unreadable`: it sends something that is not an MCP message.
 */
export type ServerErrorCode =
  | "server_unavailable"
  | "server_ended"
  | "server_timeout"
  | "server_unreadable";

/**
 * Thrown if a server cannot be used or does not take a message. The error's message names the server and contains no
 * secret.
 */
export class ServerError extends Error {
  override readonly name = "ServerError";
  readonly code: ServerErrorCode;

  constructor(code: ServerErrorCode, message: string) {
    super(message);
    this.code = code;
  }
}

/** Options of a message to a server over HTTP. A connection over standard streams ignores them. */
export interface SendContext {
  /** The `Mcp-Param-*` headers of the host's request. */
  readonly headers?: { readonly [name: string]: string } | undefined;
  /** Ends the HTTP exchange when aborted. In the new era, the end of the exchange cancels the request. */
  readonly signal?: AbortSignal | undefined;
  /** The era of the message; `old` unless given. */
  readonly era?: Era | undefined;
}

/** The origin of a server's message: the gate's request, if the message came in the HTTP response to it. */
export interface Origin {
  /**
   * The id of the gate's request, as sent to the server; `undefined` over standard streams, and for a message
   * outside any response.
   */
  readonly forRequest?: string | number | undefined;
}

/** The reason why a server can no longer be used. */
export interface ServerEnd {
  readonly code: ServerErrorCode;
  /** A sentence that names the server and contains no secret. */
  readonly message: string;
}

/** One MCP server behind the gate. */
export interface ServerConnection {
  /** The name of the server in the configuration file; `undefined` for a gate's only server. */
  readonly name: string | undefined;
  /**
   * Sends one message. The promise is fulfilled when the server has taken the message. Wait for the promise before the
   * next message, so that unsent messages do not fill the memory. Answers arrive through {@link onMessage}; over HTTP,
   * some can arrive before the promise is fulfilled.
   *
   * @throws ServerError
   */
  send(text: string, context?: SendContext): Promise<void>;
  /**
   * Called with each message of the server, one at a time: the connection reads the next message when the returned
   * promise is fulfilled. The function must not wait for {@link send}, because a server may stop reading until its own
   * output is read. Set the function before the first `send`. An answer over the size limit arrives as a JSON-RPC error
   * with the id of the request.
   */
  onMessage: (text: string, origin: Origin) => Promise<void>;
  /** Called once, when the server has ended or cannot be read any more. Set the function before the first `send`. */
  onEnd: (end: ServerEnd) => void;
  /**
   * Ends the server's process and its child processes or, over HTTP, the session. The promise is fulfilled when that is
   * done.
   */
  close(): Promise<void>;
}

/** Returns the words that name a server in messages. */
export function serverTitle(name: string | undefined): string {
  return name === undefined ? "the server" : `the server "${name}"`;
}

/** JSON-RPC codes of the failures, outside the range that JSON-RPC and MCP reserve. */
const FAILURES: Readonly<Record<ServerErrorCode, number>> = {
  server_unavailable: -31503,
  server_ended: -31503,
  server_timeout: -31504,
  server_unreadable: -31502,
};

const CODES: readonly ServerErrorCode[] = [
  "server_unavailable",
  "server_ended",
  "server_timeout",
  "server_unreadable",
];

/** Returns the answer to a request whose server has failed. */
export function serverFailure(id: string | number, { code, message }: ServerEnd): string {
  return errorText(id, FAILURES[code], message, { code });
}

/** Returns the failure in a response that {@link serverFailure} has written; `undefined` for any other response. */
export function failureIn({ value }: Message): ServerEnd | undefined {
  const found = stringAt(value, ["error", "data", "code"]);
  const message = stringAt(value, ["error", "message"]);
  const code = CODES.find((one) => one === found);
  if (code === undefined || message === undefined) return undefined;
  return valueAt(value, ["error", "code"]) === FAILURES[code] ? { code, message } : undefined;
}
