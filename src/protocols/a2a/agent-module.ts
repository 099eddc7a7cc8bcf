import type { ResourceSource } from "../../agent/resources/resource.js";
import type { Skill } from "../../agent/skill.js";
import type { TaskRunner } from "./task-runner.js";

/** What `proviso serve` gives a module of skills. */
export interface AgentModuleContext<Source extends ResourceSource = ResourceSource> {
  /** The resources of the configuration; absent if it has none. */
  readonly resources?: Source;
  /** Their folder, or the file of their database, absolute. */
  readonly resourcesPath?: string;
  /** The agent's home, absolute: a place for files of its own. */
  readonly home: string;
  /** The folder of the configuration, absolute. */
  readonly configFolder: string;
}

/** What a module of skills gives `proviso serve`. */
export interface AgentSkills {
  readonly skills: readonly Skill[];
  /** Makes sense of messages in words. */
  readonly runTask?: TaskRunner;
  /** Called once, when the agent takes no more calls. */
  close?(): void | Promise<void>;
}

/**
 * The default export of the module that a configuration of `proviso serve` names as its `skills`.
 *
 * @typeParam Source - What the module takes resources from, such as `ResourceFolder`; the configuration
 *   decides, so that a module checks what it is given.
 */
export type AgentModule<Source extends ResourceSource = ResourceSource> = (
  context: AgentModuleContext<Source>,
) => Promise<AgentSkills>;
