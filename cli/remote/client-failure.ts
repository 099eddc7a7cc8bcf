import type { ClientError, ClientErrorCode } from "../../src/client/client-error.js";
import { type CliError, environmentError, usageError } from "../exit.js";

const IS_IT_AN_AGENT =
  "check the address: that of an agent, or of its card, which ends in .json; and that it is an agent";

/** What to do about an agent that cannot be asked. */
const HINTS: { readonly [Code in ClientErrorCode]: string } = {
  address_invalid:
    "give the agent's address, such as https://agent.example, or http://127.0.0.1:8080 on this " +
    "machine; --access-token tells who you are",
  address_insecure: "use https://; or --insecure, on a network where nobody listens",
  origin_foreign: "allows it, if you trust that place with your tokens",
  unreachable: "check the address, the port and the network, and that the agent is running",
  tls_failed: "check the address; NODE_EXTRA_CA_CERTS=FILE adds an authority of your own",
  not_http: "check the port; or is it https://?",
  timed_out: "try again, or wait longer: --timeout 5m",
  redirected: "if you trust that place, give its address instead",
  not_json: IS_IT_AN_AGENT,
  answer_malformed: IS_IT_AN_AGENT,
  answer_too_large: "ask for less at once",
};

/** An agent that cannot be asked, as the user sees it: an address that does not do is one of usage. */
export function clientFailure({ code, message, origin }: ClientError): CliError {
  const hint = HINTS[code];
  if (code === "origin_foreign") return usageError(message, `--allow-origin ${origin} ${hint}`);
  const isUsage = code === "address_invalid" || code === "address_insecure";
  return isUsage ? usageError(message, hint) : environmentError(code, message, hint);
}
