import type { AgentModule } from "../../src/protocols/a2a/agent-module.js";
import type { TaskRunner } from "../../src/protocols/a2a/task-runner.js";
import type { ResourceFolder } from "../../src/sources/resource-folder.js";

/** The skills module of the documents agent, for `proviso serve`. */
declare const documentsAgent: AgentModule<ResourceFolder>;
export default documentsAgent;

/** Answers a message in plain words by a search of the documents that the capability allows. */
export const answerInWords: TaskRunner;
