/**
 * src/protocols/approvals: the approvals console, pages on which users sign in, see what agents ask for, take
 * something away from it, approve or deny it, and revoke what they gave. routes/ has what is asked of the
 * server, pages/ what is shown, markup/ how it is written, limits/ the fields that take something away,
 * login/ and session/ who the user is. No decision is made here: src/agent/approvals makes them.
 *
 * @module proviso/approvals
 */
export type { ApprovalsOptions, MountedApprovals } from "./console.js";
export { APPROVALS_PATH, mountApprovals } from "./console.js";
export type { DescribedSkill } from "./limits/arguments.js";
export { createDevelopmentLogin } from "./login/development.js";
export type {
  ConsoleLogin,
  DevelopmentLogin,
  LoginOutcome,
  LoginState,
  OpenIdLogin,
} from "./login/login.js";
export { createOpenIdLogin, type OpenIdLoginOptions } from "./login/openid.js";
export type { CodeLimits } from "./session/code-attempts.js";
export type { Seal } from "./session/cookies.js";
