import type { InputParts } from "./input-requests.js";
import type { InputRounds } from "./input-rounds.js";
import type { ResourceWatchers } from "./resource-watchers.js";
import type { Tasks } from "./tasks.js";
import type { ToolCatalog } from "./tool-catalog.js";

/** The objects of one session that all handlers of requests use. */
export interface GateParts extends InputParts {
  readonly catalog: ToolCatalog;
  readonly rounds: InputRounds;
  readonly tasks: Tasks;
  readonly watchers: ResourceWatchers;
  /** Sends the host a message that belongs to none of the host's requests. */
  readonly toHost: (text: string) => Promise<void>;
  /** Logs a line, given without a newline, for the operator. */
  readonly log: (line: string) => void;
  readonly pinsCommand: string;
}
