import { isJsonObject, type Json, type JsonObject } from "../../src/bytes/json.js";

/** An error that an agent answered with, as it came; nothing in it is safe to show as it is. */
export class RemoteFault extends Error {
  override readonly name = "RemoteFault";
  /** The HTTP status of it, also where JSON-RPC says it by a code of its own. */
  readonly status: number;
  /** `google.rpc.ErrorInfo`: what programs tell errors apart by. */
  readonly reason: string | undefined;
  readonly metadata: JsonObject;
  /** `google.protobuf.Struct`: what ErrorInfo's metadata can hold only as texts. */
  readonly struct: JsonObject;
  /** The header `WWW-Authenticate`. */
  readonly challenge: string | undefined;
  /** The header `Retry-After`. */
  readonly retryAfter: string | undefined;

  constructor(status: number, error: ErrorBody, headers: Headers) {
    super(error.message);
    this.status = status;
    this.reason = error.reason;
    this.metadata = error.metadata;
    this.struct = error.struct;
    this.challenge = headers.get("WWW-Authenticate") ?? undefined;
    this.retryAfter = headers.get("Retry-After") ?? undefined;
  }
}

interface ErrorBody {
  readonly message: string;
  readonly reason: string | undefined;
  readonly metadata: JsonObject;
  readonly struct: JsonObject;
}

const LONGEST_MESSAGE = 1000;
const STRUCT = "type.googleapis.com/google.protobuf.Struct";

/**
 * The error that an answer is, in JSON-RPC's form or in that of `google.rpc.Status`; `undefined` if it
 * is none.
 *
 * @param body - `undefined` if it is not JSON.
 */
export function faultIn(response: Response, body: Json | undefined): RemoteFault | undefined {
  const { status, statusText, headers } = response;
  const error = body !== undefined && isJsonObject(body) ? body["error"] : undefined;
  if (error !== undefined && error !== null) {
    const found = isJsonObject(error) ? error : {};
    const details = [found["data"] ?? [], found["details"] ?? []].flat().filter(isJsonObject);
    const { reason, metadata = {} } = details.find((one) => one["reason"] !== undefined) ?? {};
    const { value: struct = {} } = details.find((one) => one["@type"] === STRUCT) ?? {};
    const told = {
      message: textIn(found["message"]) ?? "it gives no reason",
      reason: textIn(reason),
      metadata: isJsonObject(metadata) ? metadata : {},
      struct: isJsonObject(struct) ? struct : {},
    };
    return new RemoteFault(statusOf(status, found["code"]), told, headers);
  }
  if (response.ok) return undefined;
  const message = `HTTP ${status}${statusText === "" ? "" : ` ${statusText}`}`;
  return new RemoteFault(status, { message, reason: undefined, metadata: {}, struct: {} }, headers);
}

// JSON-RPC answers within HTTP 200; the codes of the extension end in the status (docs/a2a.md).
function statusOf(status: number, code: Json | undefined): number {
  if (status >= 400 || typeof code !== "number") return status;
  const own = -code - 31000;
  if (own >= 400 && own < 600) return own;
  return code === -32602 || code === -32600 || code === -32700 ? 400 : 500;
}

function textIn(value: Json | undefined): string | undefined {
  return typeof value === "string" ? value.slice(0, LONGEST_MESSAGE) : undefined;
}
