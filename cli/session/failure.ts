import { denialsFrom, type ReceivedDenial } from "../../src/client/refusal.js";
import { SessionError } from "../../src/protocols/a2e/received.js";
import { isErrno } from "../../src/system/error-code.js";
import { CliError, EXIT, environmentError } from "../exit.js";
import { adviceForDenial, adviceIn, exitForDenial } from "../refusal.js";

/** Hints by the error code of a host. For a code that is not in this table, the message suffices. */
const ADVICE: { readonly [code: string]: string } = {
  auth_failed: "give a token of a grant a2e:NAME with --token @FILE; proviso mint makes one",
  capability_missing: "ask for it with --caps, and present a token of its grant, such as a2e:tools",
  no_caps: "ask for capabilities with --caps that the host serves",
  name_unknown: "the list of the capability shows the names: tool/list, proc/list, mcp/list",
  arguments_invalid: "the list of the capability shows the schemas: tool/list, proc/list, mcp/list",
  too_many_sessions: "try again when another session has ended",
  version_mismatch: "the host speaks another version of A2E",
};

/** Error codes of temporary failures. The call is not the cause, and a retry may succeed. */
const ENVIRONMENT = ["plugin_failed", "server_error", "session_ended", "line_malformed"];

/** Converts a failure of a session to an error for the user. Returns other errors unchanged. */
export function sessionFailure(error: unknown, address: string): unknown {
  if (error instanceof SessionError) {
    const denials = denialsOf(error);
    const [first] = denials;
    const code = first?.code ?? error.code;
    const transient = error.retryable || ENVIRONMENT.includes(error.code);
    const exitCode = transient ? EXIT.environment : EXIT.refused;
    return new CliError({
      code,
      message: `the host refuses: ${first?.message ?? error.message}`,
      exitCode: first === undefined ? exitCode : exitForDenial(code),
      hint: first === undefined ? adviceIn(ADVICE, error.code) : adviceForDenial(first),
      details: {
        ...(denials.length === 0 ? {} : { denials }),
        ...(error.capability === "" ? {} : { capability: error.capability }),
        retryable: error.retryable,
      },
    });
  }
  if (isErrno(error) && error.code !== undefined && UNREACHABLE.includes(error.code)) {
    const message = `nothing listens at ${address}: ${error.code}`;
    const hint = "check the address; proviso session serve says where it listens";
    return environmentError("unreachable", message, hint);
  }
  return error;
}

const UNREACHABLE = ["ECONNREFUSED", "ENOENT", "ENOTSOCK", "EACCES", "ENOTFOUND", "EAI_AGAIN"];

/** Returns the denials of a refused call; an empty array if the call failed for another reason. */
export function denialsOf({ detail }: SessionError): readonly ReceivedDenial[] {
  return denialsFrom(detail["denials"]);
}
