import type { InputParts } from "./input-requests.js";
import type { InputRounds } from "./input-rounds.js";
import type { ResourceWatchers } from "./resource-watchers.js";
import type { Tasks } from "./tasks.js";
import type { ToolCatalog } from "./tool-catalog.js";

/** The parts of one session that the steps of each request share. */
export interface GateParts extends InputParts {
  readonly catalog: ToolCatalog;
  readonly rounds: InputRounds;
  readonly tasks: Tasks;
  readonly watchers: ResourceWatchers;
  /** Sends the host a message that belongs to none of its requests. */
  readonly toHost: (text: string) => Promise<void>;
  /** Writes a line for the operator, without newline. */
  readonly log: (line: string) => void;
  readonly pinsCommand: string;
}
