/**
 * The approvals console: pages on which users see what agents ask for, narrow, approve, deny and revoke it.
 * src/agent/approvals decides.
 *
 * @module proviso/console
 */
export type { ConsoleOptions, MountedConsole } from "./console.js";
export { CONSOLE_PATH, mountConsole } from "./console.js";
export type { DescribedSkill } from "./limits/arguments.js";
export type {
  ConsoleLogin,
  DevelopmentLogin,
  LoginDemand,
  LoginOutcome,
  LoginState,
  OpenIdLogin,
  SignedIn,
} from "./login/login.js";
export { createDevelopmentLogin } from "./login/login.js";
export { createOpenIdLogin, type OpenIdLoginOptions } from "./login/openid.js";
export type { Presence } from "./login/presence.js";
export type { CodeLimits } from "./session/code-attempts.js";
export type { Seal } from "./session/cookies.js";
