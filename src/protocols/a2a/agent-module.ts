import type { Skill } from "../../agent/skill.js";
import type { ResourceFolder } from "../../sources/resource-folder.js";
import type { SqliteResources } from "../../sources/sqlite-source.js";
import type { TaskRunner } from "./executor.js";

/** What `proviso serve` gives a module of skills. */
export interface AgentModuleContext {
  /** The resources of the configuration; absent if it has none. */
  readonly resources?: ResourceFolder | SqliteResources;
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

/** The default export of the module that a configuration of `proviso serve` names as its `skills`. */
export type AgentModule = (context: AgentModuleContext) => Promise<AgentSkills>;
