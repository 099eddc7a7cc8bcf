import { readUrl } from "../../src/client/address.js";
import { ClientError } from "../../src/client/client-error.js";
import { CliError, EXIT } from "../exit.js";

/**
 * Reads the URL of a server or of a revocation list.
 *
 * @param place - The option, or the file and the field; the beginning of messages.
 * @param cargo - The data that would travel unencrypted over plain HTTP.
 * @param example - A correct URL.
 * @throws CliError if the URL is malformed, or is plain HTTP to another machine without `insecure`.
 */
export function readGateUrl(
  text: string,
  place: string,
  insecure: boolean,
  cargo: string,
  example: string,
): URL {
  try {
    return readUrl(text, place, { insecure, cargo });
  } catch (error) {
    if (!(error instanceof ClientError)) throw error;
    const isPlain = error.code === "address_insecure";
    const hint = isPlain
      ? "use https://; or --insecure, on a network without eavesdroppers"
      : `write it like ${example}`;
    throw new CliError({ code: error.code, message: error.message, exitCode: EXIT.usage, hint });
  }
}
