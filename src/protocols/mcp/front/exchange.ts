// src/protocols/mcp/front: the host's side of the gate, over standard streams or Streamable HTTP. Bytes become checked
// messages here; nothing is decided about them.

import type { Message } from "../message/message.js";

/** The tokens and headers that came with one message of the host, and the way to answer it. */
export interface Exchange {
  /** Capability tokens that the transport presented with this message. */
  readonly credentials: readonly string[];
  /** `new` for a request of revision 2026-07-28 or later, which carries its version; `old` for earlier revisions. */
  readonly era: "old" | "new";
  /**
   * Sends a message that belongs to the request: its response, progress, logs, requests to the client. After the
   * response, or once the caller is gone, messages are dropped. The returned promise is back-pressure.
   */
  send(text: string): Promise<void>;
  /** Aborted when the caller is gone: it has closed its stream or its session. */
  readonly signal: AbortSignal;
  /** The `Mcp-Param-*` headers to pass on to a server over HTTP. */
  readonly headers?: { readonly [name: string]: string } | undefined;
}

/** A session of the gate, as the host's side uses it. */
export interface HostSession {
  /** Takes a message of the host. Fulfilled when it can take the next one, not when a request is answered. */
  receive(message: Message, exchange: Exchange): Promise<void>;
  /** Sends the host a message that belongs to none of its requests. Set this before the first message. */
  toHost: (text: string) => Promise<void>;
  /** Ends the session and its servers. */
  close(): Promise<void>;
}
