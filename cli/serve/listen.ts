import { isErrno } from "../../src/system/error-code.js";
import { CliError, environmentError } from "../exit.js";

/** Converts an error of listening to an error for the operator. */
export function listeningError(
  error: unknown,
  { host, port }: { readonly host: string; readonly port: number },
): unknown {
  if (!isErrno(error)) return error;
  const at = `${host.includes(":") ? `[${host}]` : host}:${port}`;
  if (error.code === "EADDRINUSE") {
    const hint = "stop that, or name another with --port; 0 takes any free one";
    return environmentError("port_taken", `${at} is taken: something listens there already`, hint);
  }
  if (error.code === "EACCES") {
    const hint = "name a port of 1024 or more with --port, and put a proxy in front";
    return environmentError("port_forbidden", `this user may not listen at ${at}`, hint);
  }
  if (["EADDRNOTAVAIL", "ENOTFOUND", "EAI_AGAIN"].includes(error.code ?? "")) {
    const hint =
      "name one with --host: 127.0.0.1 for this machine alone, 0.0.0.0 for every network";
    return environmentError("host_unknown", `${host} is no address of this machine`, hint);
  }
  return error;
}

/** Converts an error as {@link listeningError} does, for a verb that takes the address by `--listen`. */
export function listenFlagError(
  error: unknown,
  address: Parameters<typeof listeningError>[1],
): unknown {
  const failure = listeningError(error, address);
  if (!(failure instanceof CliError)) return failure;
  return environmentError(failure.code, failure.message, "name another with --listen HOST:PORT");
}
