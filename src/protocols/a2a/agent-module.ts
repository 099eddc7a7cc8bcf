import type { ResourceSource } from "../../agent/resources/resource.js";
import type { Skill } from "../../agent/skill.js";
import type { TaskRunner } from "./task-runner.js";

/** Passed by `proviso serve` to a module of skills. */
export interface AgentModuleContext<Source extends ResourceSource = ResourceSource> {
  /** The configured resources; absent if there are none. */
  readonly resources?: Source;
  /** The absolute path of the resources' folder or database file. */
  readonly resourcesPath?: string;
  /** The absolute path of the agent's home, where the module may keep files. */
  readonly home: string;
  /** The absolute path of the folder of the configuration. */
  readonly configFolder: string;
}

/** Returned to `proviso serve` by a module of skills. */
export interface AgentSkills {
  readonly skills: readonly Skill[];
  /** Handles messages that call no skill. */
  readonly runTask?: TaskRunner;
  /** Called once, after the agent has stopped accepting calls. */
  close?(): void | Promise<void>;
}

/**
 * The default export of the module named as `skills` in a configuration of `proviso serve`.
 *
 * @typeParam Source - The type of resource source that the module expects, such as `ResourceFolder`. The
 *   configuration may have another one, so a module must check it.
 */
export type AgentModule<Source extends ResourceSource = ResourceSource> = (
  context: AgentModuleContext<Source>,
) => Promise<AgentSkills>;
