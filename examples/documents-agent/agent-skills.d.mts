import type { AgentModule } from "../../src/protocols/a2a/agent-module.js";
import type { TaskRunner } from "../../src/protocols/a2a/task-runner.js";
import type { ResourceFolder } from "../../src/sources/resource-folder.js";

/** The documents agent, for `proviso serve`. */
declare const documentsAgent: AgentModule<ResourceFolder>;
export default documentsAgent;

/** Answers a message in words by searching, within what the capability leaves. */
export const answerInWords: TaskRunner;
