/**
 * The approvals console: pages on which users see, narrow, approve and deny the requests of agents, and revoke grants.
 * The code in src/agent/parties checks and records the users' decisions.
 *
 * @module proviso/console
 */

export type { CodeLimits } from "./code-attempts.js";
export { CONSOLE_PATH, type ConsoleOptions, type MountedConsole, mountConsole } from "./console.js";
export type { DescribedSkill } from "./limits/arguments.js";
export {
  type ConsoleLogin,
  createDevelopmentLogin,
  type DevelopmentLogin,
  type LoginDemand,
  type LoginOutcome,
  type LoginState,
  type OpenIdLogin,
  type Presence,
  type SignedIn,
} from "./login/login.js";
export { createOpenIdLogin, type OpenIdLoginOptions } from "./login/openid.js";
export type { Seal } from "./sessions.js";
