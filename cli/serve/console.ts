import type { Authenticator } from "../../src/agent/caller.js";
import { readDuration } from "../../src/caveats/time.js";
import { isLoopback } from "../../src/client/address.js";
import { type ConsoleLogin, createDevelopmentLogin } from "../../src/console/login/login.js";
import { createOpenIdLogin } from "../../src/console/login/openid.js";
import type { Context } from "../context.js";
import { fromConfig, invalidConfig, problemAt, type ReadConfig } from "./config.js";
import { secretAt } from "./secret.js";
import type { Address } from "./settings.js";

export interface ConsoleSettings {
  readonly login: ConsoleLogin;
  /** Lifetime of a session in seconds. */
  readonly lifetime: number | undefined;
}

const MINUTE = 60;
const DAY = 24 * 60 * MINUTE;

/**
 * Creates the sign-in of the approvals console: the configured one, or a sign-in with development tokens.
 * Returns `undefined` if no console is served.
 *
 * @throws CliError `config_invalid`.
 */
export async function openConsole(
  context: Context,
  read: ReadConfig,
  callers: Authenticator,
  { host }: Address,
): Promise<ConsoleSettings | undefined> {
  const { config, file } = read;
  const { approvals: console, protocols, authentication } = config;
  if (!protocols.includes("approvals")) {
    if (console === undefined) return undefined;
    const what = 'has no effect: "protocols" does not name "approvals"';
    throw invalidConfig(file, [problemAt("approvals", what)]);
  }
  const lifetime = readDuration(console?.lifetime ?? "");
  if (lifetime !== undefined && (lifetime < MINUTE || lifetime > DAY)) {
    throw invalidConfig(file, [problemAt("approvals.lifetime", "must be from 1m to 1d")]);
  }
  if (console?.login === undefined) {
    const here = `http://${host.includes(":") ? `[${host}]` : host}`;
    const { hostname: reached } = new URL(config.publicUrl ?? here);
    if ("development" in authentication && isLoopback(reached)) {
      return { login: createDevelopmentLogin(callers), lifetime };
    }
    const what = "is missing; users sign in to the approvals console at an OpenID Connect provider";
    throw invalidConfig(file, [problemAt("approvals.login", what)]);
  }
  const { clientSecret: kept, ...others } = console.login;
  const clientSecret =
    kept === undefined ? undefined : secretAt(context, read, "approvals.login.clientSecret", kept);
  const given = { ...others, clientSecret };
  const login = await fromConfig(
    file,
    () => createOpenIdLogin(given),
    (words) => `approvals.${words}`,
  );
  return { login, lifetime };
}
