import type { Authenticator } from "../../../agent/caller.js";
import type { DevelopmentLogin } from "./login.js";

/** Signs users in by development tokens, on a loopback address. @param tokens - {@link createFixedTokens} */
export function createDevelopmentLogin(tokens: Authenticator): DevelopmentLogin {
  return {
    kind: "development",
    async check(token) {
      const headers = { authorization: `Bearer ${token.trim()}` };
      const found = await tokens.authenticate({ method: "POST", url: "/", headers });
      if (found.ok) return { ok: true, principal: found.caller.principal };
      return { ok: false, message: "That is not one of this agent's development tokens." };
    },
  };
}
