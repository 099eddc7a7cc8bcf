import { META } from "./host.js";

/** A host over Streamable HTTP that can set every header freely. */
export class HttpHost {
  readonly #url: string;
  readonly #headers: { readonly [name: string]: string };
  #ids = 0;

  /** @param headers - Headers of every request, such as a capability. */
  constructor(url: string, headers: { readonly [name: string]: string } = {}) {
    this.#url = url;
    this.#headers = headers;
  }

  /**
   * Sends a request of revision 2026-07-28. Its headers agree with the request unless others are given.
   *
   * @returns The text of the answer.
   */
  async request(
    method: string,
    params: { readonly [name: string]: unknown },
    headers: { readonly [name: string]: string } = {},
  ): Promise<string> {
    const body = { jsonrpc: "2.0", id: ++this.#ids, method, params: { _meta: META, ...params } };
    const name = params["name"] ?? params["taskId"];
    const response = await fetch(this.#url, {
      method: "POST",
      headers: {
        "Content-Type": "application/json",
        Accept: "application/json, text/event-stream",
        "MCP-Protocol-Version": "2026-07-28",
        "Mcp-Method": method,
        ...(typeof name === "string" ? { "Mcp-Name": name } : {}),
        ...this.#headers,
        ...headers,
      },
      body: JSON.stringify(body),
    });
    return response.text();
  }
}
