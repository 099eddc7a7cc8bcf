import type { Caller } from "../../agent/caller.js";
import type { IssuingAgent } from "../../agent/issuing-agent.js";
import type { MessageRate, SessionLimits } from "./limits.js";
import type { Registry } from "./registry.js";
import type { SessionSlots } from "./session-slots.js";
import type { Timers } from "./timers.js";

export interface SessionContext {
  readonly agent: IssuingAgent;
  readonly registry: Registry;
  readonly slots: SessionSlots;
  /** The party for which peers without tokens act; `undefined` if tokens are required. */
  readonly ambient: Caller | undefined;
  readonly omitUnavailable: boolean;
  readonly limits: SessionLimits;
  readonly rate: MessageRate | undefined;
  readonly clock: () => number;
  readonly timers: Timers;
  readonly onFailure: (error: unknown, what: string) => void;
}
