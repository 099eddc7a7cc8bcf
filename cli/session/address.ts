import { resolve } from "node:path";
import type { SessionAddress } from "../../src/protocols/a2e/socket.js";
import { usageError } from "../exit.js";
import { quoted } from "../output.js";

/** How an address is written, for help. */
export const ADDRESS_FORM =
  "HOST:PORT, such as 127.0.0.1:4711, or the path of a socket, such as ./a2e.sock";

/**
 * Reads `HOST:PORT`, or the path of a socket: what has a `/` in it, or begins with `unix:`.
 *
 * @param cwd - Where a relative path starts from.
 * @throws CliError of usage.
 */
export function addressFrom(text: string, cwd: string): SessionAddress {
  const [, path] = /^(?:unix:)(.+)$/.exec(text) ?? [];
  if (path !== undefined || text.includes("/")) return { path: resolve(cwd, path ?? text) };
  return portFrom(text);
}

/** Reads `HOST:PORT`. @throws CliError of usage. */
export function portFrom(text: string): Extract<SessionAddress, { port: number }> {
  const [, name = "", bracketed, digits = ""] = /^(\[([^\]]+)\]|[^:]+):(\d{1,5})$/.exec(text) ?? [];
  const port = Number(digits);
  if (name !== "" && port <= 65535) return { host: bracketed ?? name, port };
  throw usageError(`${quoted(text)} is not an address`, `give ${ADDRESS_FORM}`);
}
