import type { ResourceSource } from "../../agent/resources/resource.js";
import type { Skill } from "../../agent/skill.js";
import type { TaskRunner } from "./task-runner.js";

/** Passed by `proviso serve` to a module of skills. */
export interface AgentModuleContext<Source extends ResourceSource = ResourceSource> {
  /** The resources of the configuration; absent if it has none. */
  readonly resources?: Source;
  /** The absolute path of their folder, or of the file of their database. */
  readonly resourcesPath?: string;
  /** The absolute path of the agent's home, where the module may keep files. */
  readonly home: string;
  /** The absolute path of the folder of the configuration. */
  readonly configFolder: string;
}

/** Returned to `proviso serve` by a module of skills. */
export interface AgentSkills {
  readonly skills: readonly Skill[];
  /** Interprets messages in words. */
  readonly runTask?: TaskRunner;
  /** Called once, when the agent accepts no more calls. */
  close?(): void | Promise<void>;
}

/**
 * The default export of the module named as `skills` in a configuration of `proviso serve`.
 *
 * @typeParam Source - The type of the module's resource source, such as `ResourceFolder`. The configuration
 *   decides which one it is, so a module must check it.
 */
export type AgentModule<Source extends ResourceSource = ResourceSource> = (
  context: AgentModuleContext<Source>,
) => Promise<AgentSkills>;
