import type { ResourceSource } from "../../agent/resources/resource.js";
import type { Skill } from "../../agent/skill.js";
import type { TaskRunner } from "./task-runner.js";

/** The argument that `proviso serve` passes to a skills module. */
export interface AgentModuleContext<Source extends ResourceSource = ResourceSource> {
  /** The configured resources; absent if there are none. */
  readonly resources?: Source;
  /** Absolute path of the resources' folder or database file; absent without configured resources. */
  readonly resourcesPath?: string;
  /** Absolute path of the agent's home, where the module may keep files. */
  readonly home: string;
  /** Absolute path of the folder that contains the configuration file. */
  readonly configFolder: string;
}

/** The skills and handlers that a skills module returns to `proviso serve`. */
export interface AgentSkills {
  readonly skills: readonly Skill[];
  /** Handles messages that call no skill. */
  readonly runTask?: TaskRunner;
  /** Called once, after the agent has stopped accepting calls. */
  close?(): void | Promise<void>;
}

/**
 * The default export of a skills module: the ES module that `skills` names in a configuration of `proviso
 * serve`.
 *
 * @typeParam Source - The type of resource source that the module expects, such as `ResourceFolder`. The
 *   configuration may name another type, so the module must check the type of `resources`.
 */
export type AgentModule<Source extends ResourceSource = ResourceSource> = (
  context: AgentModuleContext<Source>,
) => Promise<AgentSkills>;
