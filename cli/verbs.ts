import type { Command } from "commander";
import type { Context } from "./context.js";

/** The exports of a file in `verbs/`. */
export interface VerbModule {
  /** Adds the verb to the program. */
  define(program: Command, context: Context): void;
}

/** The verbs by name. Each verb is loaded on demand, so that narrowing a token does not load the stores. */
export const VERBS: Readonly<Record<string, () => Promise<VerbModule>>> = {
  init: () => import("./verbs/init.js"),
  keys: () => import("./verbs/keys.js"),
  mint: () => import("./verbs/mint.js"),
  attenuate: () => import("./verbs/attenuate.js"),
  inspect: () => import("./verbs/inspect.js"),
  verify: () => import("./verbs/verify.js"),
  diff: () => import("./verbs/diff.js"),
  revoke: () => import("./verbs/revoke.js"),
  revocations: () => import("./verbs/revocations.js"),
  convert: () => import("./verbs/convert.js"),
  serve: () => import("./verbs/serve.js"),
  card: () => import("./verbs/card.js"),
  discover: () => import("./verbs/discover.js"),
  request: () => import("./verbs/request.js"),
  invoke: () => import("./verbs/invoke.js"),
  mcp: () => import("./verbs/mcp.js"),
  session: () => import("./verbs/session.js"),
  audit: () => import("./verbs/audit.js"),
  grants: () => import("./verbs/grants.js"),
  tasks: () => import("./verbs/tasks.js"),
  quickstart: () => import("./verbs/quickstart.js"),
  vectors: () => import("./verbs/vectors.js"),
  completion: () => import("./verbs/completion.js"),
};
