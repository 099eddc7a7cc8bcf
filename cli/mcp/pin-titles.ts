import { createHmac } from "node:crypto";
import type { Keyring } from "../../src/issuer/keyring.js";
import type { ServerSource } from "./server-sources.js";

const LABEL = "proviso-pin-title-v1 ";

/**
 * Returns the string that identifies a server in the pins of all gates of a home: the server's title or, without a
 * title, the command and the working folder of a program, or the origin of an address. A digest stands for the arguments
 * or the rest of the URL, because they may contain a password, and pins are stored and printed. The digest is keyed, so
 * that nobody without the keys can test guesses of the password.
 *
 * @param keys - The keys of the home, or of the service.
 */
export function pinTitle(server: ServerSource, keys: Keyring): string {
  if (server.title !== undefined) return server.title;
  if (server.kind === "address") {
    const { origin, pathname, search } = server.url;
    return `${origin}, path ${keyedDigest(`${pathname}${search}`, keys)}`;
  }
  const { command, args, cwd = "" } = server;
  const place = `${command} in ${cwd}`;
  return args.length === 0
    ? place
    : `${place}, arguments ${keyedDigest(JSON.stringify(args), keys)}`;
}

/** Returns the first 64 bits of an HMAC-SHA256 under the oldest key, in hexadecimal. A rotation keeps the oldest key. */
function keyedDigest(text: string, keys: Keyring): string {
  const [oldest] = keys.exportJwkSet().keys;
  if (oldest === undefined) throw new TypeError("a keyring has at least one key");
  const secret = Buffer.from(oldest.k, "base64url");
  return createHmac("sha256", secret).update(`${LABEL}${text}`).digest("hex").slice(0, 16);
}
