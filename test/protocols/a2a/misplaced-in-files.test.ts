import { request } from "node:http";
import { expect, test } from "vitest";
import type { Json, JsonObject } from "../../../src/bytes/json.js";
import { CAPABILITY_HEADER } from "../../../src/protocols/a2a/client/index.js";
import { at, quietConsole, send, textAt } from "./callers.js";
import { userMessage } from "./set-up.js";
import { type Reached, SIDES } from "./sides.js";

// The agent finds a token in a file, a URL or a trailer as well as anywhere else, and refuses the request. It
// also refuses a request with more headers than Node reads.

function utf16(text: string, big: boolean): Buffer {
  const little = Buffer.from(text, "utf16le");
  return big ? little.swap16() : little;
}

/** Returns the token with each character percent-encoded. */
function encoded(token: string): string {
  return token.replace(/./g, (one) => `%${one.charCodeAt(0).toString(16)}`);
}

const FILES: readonly (readonly [about: string, part: (token: string) => JsonObject])[] = [
  ["a text", (token) => ({ raw: Buffer.from(`token=${token}\n`).toString("base64") })],
  ["a text, base64url", (token) => ({ raw: Buffer.from(token).toString("base64url") })],
  ["JSON", (token) => ({ raw: Buffer.from(JSON.stringify({ a: [token] })).toString("base64") })],
  ["UTF-16", (token) => ({ raw: utf16(`\ufeff${token}`, false).toString("base64") })],
  ["UTF-16, big-endian", (token) => ({ raw: utf16(`\ufeff${token}`, true).toString("base64") })],
  [
    "binary around it",
    (token) => ({
      raw: Buffer.concat([Buffer.from([0, 255]), Buffer.from(token), Buffer.from([1])]).toString(
        "base64",
      ),
    }),
  ],
  ["the token's bytes", (token) => ({ raw: Buffer.from(token, "base64url").toString("base64") })],
  ["an address", (token) => ({ url: `https://files.example/a?token=${token}` })],
  [
    "an address with the token percent-encoded",
    (token) => ({ url: `https://files.example/a?t=${encoded(token)}&u=%zz` }),
  ],
  [
    "an address that holds the file",
    (token) => ({ url: `data:text/plain;base64,${Buffer.from(token).toString("base64")}` }),
  ],
  [
    "an address that holds it as it is",
    (token) => ({ url: `data:application/json,${encoded(token)}` }),
  ],
];

const message = (part: Json): JsonObject => userMessage([{ text: "say hi" }, part]);

async function overEach({ rpcUrl, restUrl, headers }: Reached, params: JsonObject) {
  const post = (url: string, body: object) =>
    send(url, { method: "POST", headers, body: JSON.stringify(body) });
  return [
    await post(rpcUrl, { jsonrpc: "2.0", id: 1, method: "SendMessage", params }),
    await post(`${restUrl}/message:send`, params),
    await post(`${restUrl}/message:stream`, params),
  ];
}

test.each(SIDES)("%s refuses a token in a file part of a message", async (_, start) => {
  quietConsole();
  const reached = await start();
  for (const [about, part] of FILES) {
    for (const answer of await overEach(reached, { message: message(part(reached.token)) })) {
      const said = textAt(answer.body, "error", "message");
      expect(said, about).toBe("a message must not hold a token: it is kept with its task");
    }
  }
});

test.each(SIDES)("%s refuses a token in the URL of a push receiver", async (_, start) => {
  quietConsole();
  const reached = await start();
  const url = `http://a.example/?t=${encoded(reached.token)}`;
  const configuration = { taskPushNotificationConfig: { url } };
  for (const answer of await overEach(reached, { message: userMessage([]), configuration })) {
    expect(textAt(answer.body, "error", "message")).toContain("url must not hold a token");
  }
});

interface Sent {
  readonly path: string;
  readonly verb?: string;
  readonly headers?: Readonly<Record<string, string | readonly string[]>>;
  readonly trailers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

/** Sends a request in chunks, followed by trailers. */
function sendChunked(reached: Reached, { path, verb = "POST", ...more }: Sent): Promise<Json> {
  const { headers = {}, trailers = {}, body = "" } = more;
  return new Promise((resolve, reject) => {
    const sent = request(
      path,
      {
        method: verb,
        headers: {
          ...reached.headers,
          "Transfer-Encoding": "chunked",
          Trailer: Object.keys(trailers).join(", "),
          ...headers,
        } as Record<string, string>,
      },
      (answer) => {
        let text = "";
        answer.setEncoding("utf8").on("data", (chunk: string) => {
          text += chunk;
        });
        answer.on("end", () => resolve(JSON.parse(text)));
      },
    );
    sent.on("error", reject);
    sent.addTrailers(trailers);
    sent.end(body);
  });
}

test.each(SIDES)("%s refuses a token in a trailer or in a repeated header", async (_, start) => {
  quietConsole();
  const reached = await start();
  const { rpcUrl, restUrl, token } = reached;
  const params = { message: userMessage([{ text: "say hi" }]) };
  const rpc = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "SendMessage", params });
  const rest = JSON.stringify(params);
  const ways: readonly Sent[] = [
    { path: rpcUrl, body: rpc },
    { path: `${restUrl}/message:send`, body: rest },
    { path: `${restUrl}/tasks`, verb: "GET", body: "{}" },
  ];
  for (const way of ways) {
    for (const [trailers, said] of [
      [{ "X-Note": `use ${token}` }, "a trailer must not hold a token"],
      [{ "Proviso-Capability": token }, "the trailer proviso-capability is not read"],
      [{ "Proviso-Capability": "nothing" }, "the trailer proviso-capability is not read"],
      [{ "Proviso-Authority": "ambient" }, "the trailer proviso-authority is not read"],
      [{ "X-Token": "nothing" }, "the trailer x-token is not read"],
    ] as const) {
      const answer = await sendChunked(reached, { ...way, trailers });
      expect(textAt(answer, "error", "message"), JSON.stringify(way)).toContain(said);
    }
    const twice = { "User-Agent": ["one", token] };
    const answer = await sendChunked(reached, { ...way, headers: twice });
    expect(textAt(answer, "error", "message")).toContain("a header must not hold a token");
    const fine = await sendChunked(reached, { ...way, trailers: { "X-Checksum": "abc" } });
    expect(at(fine, "error"), JSON.stringify(way)).toBeNull();
  }
  // If the server does not read the body, it does not read the trailers either.
  const untyped = { path: `${restUrl}/tasks`, verb: "GET", trailers: { "X-Note": token } };
  const unread = await sendChunked(reached, {
    ...untyped,
    headers: { "Content-Type": "text/csv" },
  });
  expect(textAt(unread, "error", "message")).toContain("the body must be");
});

/** Sends a request with a thousand other headers before the capability header. */
function sendLast(
  path: string,
  headers: Reached["headers"],
  body: string,
): Promise<{ readonly status: number | undefined; readonly text: string }> {
  const { [CAPABILITY_HEADER]: token = "", ...others } = headers;
  const fillers = Array.from({ length: 1100 }, () => ["a", "1"]);
  const lines = [...Object.entries(others), ...fillers, [CAPABILITY_HEADER, token]].flat();
  const length = ["Host", "localhost", "Content-Length", String(Buffer.byteLength(body))];
  return new Promise((resolve, reject) => {
    const sent = request(path, { method: "POST", headers: [...length, ...lines] }, (answer) => {
      let text = "";
      answer.setEncoding("utf8").on("data", (chunk: string) => {
        text += chunk;
      });
      answer.on("end", () => resolve({ status: answer.statusCode, text }));
    });
    sent.on("error", reject).end(body);
  });
}

// By default, Node drops headers after the first thousand. Without a check, the call would run without its
// capability.
test.each(SIDES)(
  "%s either reads a capability header after 1,000 other headers, or refuses the request",
  async (side, start) => {
    quietConsole();
    const { rpcUrl, restUrl, headers } = await start();
    const params = { message: userMessage([{ text: "say hi" }]) };
    for (const [path, body] of [
      [rpcUrl, { jsonrpc: "2.0", id: 1, method: "SendMessage", params }],
      [`${restUrl}/message:send`, { message: userMessage([{ text: "say hi" }]) }],
    ] as const) {
      const { status, text } = await sendLast(path, headers, JSON.stringify(body));
      // Node 24 itself refuses a request with so many headers.
      if (side !== "an agent" && status === 431) continue;
      const answer: Json = JSON.parse(text);
      if (side === "an agent") expect(at(answer, "error"), path).toBeNull();
      else expect(textAt(answer, "error", "message"), path).toContain("fewer than 1000 headers");
    }
  },
);
