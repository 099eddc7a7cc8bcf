import { isObject, type JsonObject } from "../../../bytes/json.js";
import {
  type MirroredParameters,
  mirroredParameters,
  namedIn,
} from "../message/mirrored-headers.js";

/**
 * Maximum number of tools that are kept. If a server lists more, the gate repeats no arguments of the oldest tools in
 * headers.
 */
const MOST = 10_000;

/** Remembers, from a server's answers to `tools/list`, the tools whose arguments are repeated in headers. */
export class ListedTools {
  readonly #parameters = new Map<string, MirroredParameters>();

  /** @param result - The result of `tools/list`. */
  learn(result: { readonly [name: string]: unknown }): void {
    const { tools } = result;
    if (!Array.isArray(tools)) return;
    for (const tool of tools as readonly unknown[]) {
      if (!isObject(tool)) continue;
      const { name, inputSchema } = tool;
      if (typeof name !== "string" || !isObject(inputSchema)) continue;
      const parameters = mirroredParameters(inputSchema as JsonObject);
      this.#parameters.delete(name);
      if (parameters.size === 0) continue;
      this.#parameters.set(name, parameters);
      const [oldest] = this.#parameters.keys();
      if (this.#parameters.size > MOST && oldest !== undefined) this.#parameters.delete(oldest);
    }
  }

  /** Returns the arguments that headers repeat for a `tools/call`; an empty map for any other request. */
  parametersOf(request: JsonObject): MirroredParameters {
    const { method } = request;
    const name = method === "tools/call" ? namedIn(method, request) : undefined;
    return (name === undefined ? undefined : this.#parameters.get(name)) ?? new Map();
  }
}
