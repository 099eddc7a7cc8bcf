// src/protocols/mcp/front: the transports to the host, over standard streams and Streamable HTTP. They turn bytes into
// checked messages; the code in gate/ decides about the messages.

import type { Era, Message } from "../message/message.js";

/** One message of the host: the tokens and headers that came with it, and the function that answers it. */
export interface Exchange {
  /** Capability tokens that came with this message outside its text, for example in HTTP headers. */
  readonly credentials: readonly string[];
  readonly era: Era;
  /**
   * Sends the host a message that belongs to the request: the response, progress, a log message or a request to the
   * host. Drops a message after the response, or after the host has disconnected. Wait for the promise before the next
   * message, so that unread messages do not fill the memory.
   */
  send(text: string): Promise<void>;
  /** Aborted when the host has closed its stream or its session. */
  readonly signal: AbortSignal;
  /** The `Mcp-Param-*` headers to pass on to a server over HTTP. */
  readonly headers?: { readonly [name: string]: string } | undefined;
}

/** A session of the gate, as the transports in front/ use it. */
export interface HostSession {
  /**
   * Takes a message of the host. The promise is fulfilled when the session can take the next message; a request may
   * still be unanswered at that time.
   */
  receive(message: Message, exchange: Exchange): Promise<void>;
  /**
   * Sends the host a message that belongs to none of the host's requests. The transport sets this property before the
   * first message.
   */
  toHost: (text: string) => Promise<void>;
  /** Ends the session and its servers. */
  close(): Promise<void>;
}
