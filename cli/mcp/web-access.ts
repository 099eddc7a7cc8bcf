import { isLoopback } from "../../src/client/address.js";
import type { Context } from "../context.js";
import { type CliError, usageError } from "../exit.js";
import { quoted } from "../output.js";
import { invalidConfig, problemAt, type ReadConfig } from "../serve/config.js";
import { warn } from "../serve/log.js";
import type { Address } from "../serve/settings.js";
import type { GateConfig } from "./gate-config.js";

/** The web pages that may call a gate, and the host names by which they may call it. */
export interface WebAccess {
  readonly allowedOrigins: readonly string[];
  readonly allowedHosts: readonly string[];
}

/** The options of `proviso mcp gate` for web pages. */
interface WebOptions {
  readonly allowOrigin?: readonly string[];
  readonly allowHost?: readonly string[];
}

/** Returns an error about a setting. */
type SettingError = (problem: string, hint: string) => CliError;

/**
 * Reads the allowed origins and host names, and writes them as browsers send them.
 *
 * @param listen - The address of the gate; `undefined` for standard streams.
 * @throws CliError if a value is not an origin or a host name, or if the gate does not listen.
 */
export function webAccess(
  options: WebOptions,
  read: ReadConfig<GateConfig> | undefined,
  listen: Address | undefined,
): WebAccess {
  const values = (
    flag: string,
    given: readonly string[] | undefined,
    field: "allowedOrigins" | "allowedHosts",
    canonical: (text: string, error: SettingError) => string,
  ): readonly string[] => {
    const texts = given ?? read?.config[field] ?? [];
    const settingError: SettingError = (problem, hint) =>
      given === undefined && read !== undefined
        ? invalidConfig(read.file, [problemAt(field, `${problem}; ${hint}`)])
        : usageError(`${flag} ${problem}`, hint);
    if (texts.length > 0 && listen === undefined) {
      throw settingError("is only for a gate that listens", "give --listen HOST:PORT too");
    }
    return texts.map((text) => canonical(text, settingError));
  };
  return {
    allowedOrigins: values("--allow-origin", options.allowOrigin, "allowedOrigins", originFrom),
    allowedHosts: values("--allow-host", options.allowHost, "allowedHosts", hostFrom),
  };
}

/** Returns an origin as browsers send it (RFC 6454, section 6.2). Browser extensions have schemes of their own. */
function originFrom(text: string, settingError: SettingError): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const problem = `${quoted(text)} is not the origin of a web page`;
  if (url === undefined || url.host === "" || url.username !== "" || url.password !== "") {
    throw settingError(problem, "write scheme, host and port, such as https://app.example:8443");
  }
  const origin = `${url.protocol}//${url.host}`;
  const isWhole = ["", "/"].includes(url.pathname) && url.search === "" && url.hash === "";
  if (!isWhole) throw settingError(problem, `leave out the path: ${origin}`);
  return origin;
}

/** Returns the value of the header `Host`, in lower case, with punycode, and without the port 80. */
function hostFrom(text: string, settingError: SettingError): string {
  if (/^[^\s/?#@\\]+$/.test(text) && URL.canParse(`http://${text}`)) {
    return new URL(`http://${text}`).host;
  }
  const near = URL.canParse(text) ? new URL(text).host : "";
  const hint = near === "" ? "write it like gate.example or gate.example:8443" : `write ${near}`;
  throw settingError(`${quoted(text)} is not a host name`, hint);
}

/** Warns if a gate listens at an address that other machines can reach. */
export function warnOfPlainHttp(context: Context, { host, port }: Address): void {
  const named = host.includes(":") ? `[${host}]` : host;
  if (isLoopback(named)) return;
  const what = `${named}:${port} is plain http, and other machines can reach it`;
  warn(context, `${what}: tokens travel in clear unless a proxy with TLS stands in front`);
}
