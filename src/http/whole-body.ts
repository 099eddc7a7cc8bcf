import { AsyncResource } from "node:async_hooks";
import type { IncomingMessage } from "node:http";

/**
 * Reads a body of the form that nearly all have: its length stated and within the limit, its type as listed,
 * neither compressed nor begun by another reader. It takes two listeners, where a reader of all forms takes five.
 *
 * @param types - In lower case.
 * @param limit - Bytes.
 * @param then - Called with the bytes, in the asynchronous context of this call; not at all if the caller goes away.
 * @returns Whether it reads the body; a request with any other is left as it is.
 */
export function readWhole(
  req: IncomingMessage,
  types: ReadonlySet<string>,
  limit: number,
  then: (bytes: Buffer) => void,
): boolean {
  const { headers } = req;
  const length = Number(headers["content-length"]);
  if (!(length > 0 && length <= limit) || headers["transfer-encoding"] !== undefined) return false;
  if (headers["content-encoding"] !== undefined) return false;
  if (!types.has(headers["content-type"] ?? "")) return false;
  if (req.readableFlowing !== null || req.readableDidRead || req.readableEncoding !== null) {
    return false;
  }
  const chunks: Buffer[] = [];
  req.on("data", (chunk: Buffer) => chunks.push(chunk));
  const resource = new AsyncResource("body");
  req.on("end", () => {
    const [first] = chunks;
    const bytes = first !== undefined && chunks.length === 1 ? first : Buffer.concat(chunks);
    // The stream's events have the context of the connection, and not that of what stands in front.
    resource.runInAsyncScope(then, undefined, bytes);
  });
  return true;
}
