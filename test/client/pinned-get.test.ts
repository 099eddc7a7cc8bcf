import { createServer } from "node:https";
import { afterAll, describe, expect, test } from "vitest";
import { ClientError, type ClientErrorCode } from "../../src/client/client-error.js";
import type { Address } from "../../src/client/pinned-addresses.js";
import { type GetAccess, pinnedGet } from "../../src/client/pinned-get.js";
import { httpServer, rawServer, sendText } from "../support/loopback-servers.js";
import { CERTIFICATE, PRIVATE_KEY } from "./certificate.js";

const LIMITS = { timeout: 5000, maxBytes: 1000 };

/** Fetches from a URL whose origin the calling code has named, unless `access` says otherwise. */
function ask(url: string, access: Partial<GetAccess> = {}) {
  return pinnedGet(new URL(url), { named: [new URL(url).origin], ...LIMITS, ...access });
}

async function refusalOf(asked: Promise<unknown>): Promise<ClientError> {
  const error: unknown = await asked.then(() => undefined).catch((thrown: unknown) => thrown);
  if (error instanceof ClientError) return error;
  throw new TypeError(`it was not refused: ${String(error)}`);
}

async function codeOf(asked: Promise<unknown>): Promise<ClientErrorCode> {
  return (await refusalOf(asked)).code;
}

test("pinnedGet sends no credentials, and asks for JSON without compression", async () => {
  const server = await httpServer((_request, response) => sendText(response, '{"a":1}'));
  const { status, text } = await ask(`${server.url}/x`);
  expect({ status, text }).toEqual({ status: 200, text: '{"a":1}' });
  const { host, connection, ...headers } = server.requests[0]?.headers ?? {};
  expect(headers).toEqual({ accept: "application/json", "accept-encoding": "identity" });
});

test.each(["application/a2a+json", "application/json; charset=utf-8"])(
  "pinnedGet accepts the content type %s",
  async (type) => {
    const server = await httpServer((_request, response) =>
      sendText(response, "{}", { "Content-Type": type }),
    );
    expect((await ask(server.url)).text).toBe("{}");
  },
);

describe("pinnedGet fails", () => {
  test.each<[what: string, headers: Record<string, string>, code: ClientErrorCode]>([
    ["with the content type text/html", { "Content-Type": "text/html" }, "not_json"],
    ["without a content type", { "Content-Type": "" }, "not_json"],
    ["with a content encoding", { "Content-Encoding": "gzip" }, "not_json"],
    ["with a Content-Length over the limit", { "Content-Length": "1001" }, "answer_too_large"],
  ])("%s", async (_what, headers, code) => {
    const server = await httpServer((_request, response) => {
      response.writeHead(200, { "Content-Type": "application/json", ...headers });
      response.flushHeaders();
      response.end("{}");
    });
    expect(await codeOf(ask(server.url))).toBe(code);
  });

  test("for bytes that are not UTF-8", async () => {
    const server = await httpServer((_request, response) =>
      response.writeHead(200, { "Content-Type": "application/json" }).end(Buffer.from([0xff])),
    );
    expect(await codeOf(ask(server.url))).toBe("answer_malformed");
  });

  test.each([404, 401, 500, 206])("with the HTTP status %i", async (status) => {
    const server = await httpServer((_request, response) => response.writeHead(status).end());
    expect(await codeOf(ask(server.url))).toBe("not_found");
  });

  test("from a server that does not speak HTTP", async () => {
    const server = await rawServer((socket) => void socket.end("220 mail.example ESMTP\r\n"));
    expect(await codeOf(ask(server.url))).toBe("not_http");
  });

  test("from a port on which nothing listens", async () => {
    expect(await codeOf(ask("http://127.0.0.1:9"))).toBe("unreachable");
  });

  test("over a connection that closes in the middle of the body", async () => {
    const server = await rawServer((socket) => {
      socket.end("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 9\r\n\r\n{");
    });
    expect(await codeOf(ask(server.url))).toBe("unreachable");
  });
});

describe("pinnedGet gives up on a server", () => {
  test("that sends an endless body, at the size limit", async () => {
    const server = await httpServer((_request, response) => {
      response.writeHead(200, { "Content-Type": "application/json" });
      const chunk = Buffer.alloc(64 * 1024, "[");
      const more = (): void => {
        while (!response.destroyed && response.write(chunk));
      };
      response.on("drain", more);
      more();
    });
    expect(await codeOf(ask(server.url))).toBe("answer_too_large");
  });

  test.each<[what: string, said: string]>([
    ["says nothing", ""],
    ["stops in its headers", "HTTP/1.1 200 OK\r\nX-A: "],
    ["stops in its body", "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n{"],
  ])("that %s, at the deadline", async (_what, said) => {
    const server = await rawServer((socket) => void socket.write(said));
    expect(await codeOf(ask(server.url, { timeout: 50 }))).toBe("timed_out");
  });

  test("that sends one byte at a time, at the deadline", async () => {
    const server = await rawServer((socket) => {
      socket.write("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n");
      const drip = setInterval(() => socket.write(" "), 10);
      socket.on("close", () => clearInterval(drip));
    });
    expect(await codeOf(ask(server.url, { timeout: 100 }))).toBe("timed_out");
  });

  test("whose name look-up never answers, at the deadline", async () => {
    const resolve = () => new Promise<readonly Address[]>(() => {});
    const asked = ask("https://agent.example", { resolve, timeout: 50 });
    expect(await codeOf(asked)).toBe("timed_out");
  });

  test("that sends endless headers", async () => {
    const server = await rawServer((socket) => {
      socket.write("HTTP/1.1 200 OK\r\n");
      const line = `X-A: ${"a".repeat(4000)}\r\n`;
      const more = (): void => {
        while (!socket.destroyed && socket.write(line));
      };
      socket.on("drain", more);
      more();
    });
    expect(await codeOf(ask(server.url))).toMatch(/^(not_http|unreachable)$/);
  });
});

describe("redirects", () => {
  const redirect = (targets: Readonly<Record<string, string>>) =>
    httpServer((request, response) => {
      const to = targets[request.url ?? ""];
      if (to === undefined) sendText(response, "{}");
      else response.writeHead(302, { Location: to }).end();
    });

  test("are followed within the origin", async () => {
    const server = await redirect({ "/a": "/b", "/b": "c", "/c": "/d?e=1" });
    expect((await ask(`${server.url}/a`)).text).toBe("{}");
    expect(server.requests.map(({ url }) => url)).toEqual(["/a", "/b", "/c", "/d?e=1"]);
  });

  test.each<[what: string, targets: Record<string, string>, message: RegExp]>([
    ["to another origin", { "/a": "http://127.0.0.1:1/a" }, /another origin, http:\/\/127.0.0.1:1/],
    ["to another name of the same host", { "/a": "http://localhost:1/" }, /another origin/],
    ["to another scheme", { "/a": "file:///etc/passwd" }, /another origin/],
    ["in a loop", { "/a": "/b", "/b": "/c", "/c": "/a" }, /in a ring/],
    ["to itself", { "/a": "/a" }, /in a ring/],
    [
      "more than three times in a row",
      { "/a": "/b", "/b": "/c", "/c": "/d", "/d": "/e" },
      /more than 3 times/,
    ],
    ["without a Location", { "/a": "http://" }, /without a usable Location header/],
  ])("%s are refused", async (_what, targets, message) => {
    const server = await redirect(targets);
    const refusal = await refusalOf(ask(`${server.url}/a`));
    expect([refusal.code, refusal.message]).toEqual(["redirected", expect.stringMatching(message)]);
  });
});

describe("an address that the calling code did not name", () => {
  test.each(["http://127.0.0.1:PORT", "http://localhost:PORT", "http://[::1]:PORT"])(
    "gets no request: %s",
    async (place) => {
      const server = await httpServer((_request, response) => sendText(response, "{}"));
      const url = place.replace("PORT", String(server.port));
      expect(await codeOf(ask(url, { named: [] }))).toBe("address_refused");
      expect(server.requests).toEqual([]);
    },
  );

  test("gets a request if its host and port are allowed", async () => {
    const server = await httpServer((_request, response) => sendText(response, "{}"));
    const allowHosts = [`127.0.0.1:${server.port}`];
    expect((await ask(server.url, { named: [], allowHosts })).text).toBe("{}");
  });

  test("gets no request if it is a loopback address to which a public name resolves", async () => {
    const server = await httpServer((_request, response) => sendText(response, "{}"));
    const resolve = async () => [{ address: "127.0.0.1", family: 4 }];
    const url = `http://agent.example:${server.port}`;
    const refusal = await refusalOf(ask(url, { named: [], insecure: true, resolve }));
    expect([refusal.code, refusal.message]).toEqual([
      "address_refused",
      `${url} is at a loopback address, which only its name allows: agent.example:${server.port}`,
    ]);
    expect(server.requests).toEqual([]);
  });
});

test("pinnedGet refuses plain HTTP to another machine, and a scheme other than HTTP, as address_insecure", async () => {
  expect(await codeOf(ask("http://agent.example"))).toBe("address_insecure");
  expect(await codeOf(ask("ftp://127.0.0.1"))).toBe("address_insecure");
});

describe("a name that resolves to several addresses", () => {
  test("is looked up once, and redirects go to the address of the first look-up", async () => {
    const server = await httpServer((request, response) => {
      if (request.url === "/") response.writeHead(302, { Location: "/card" }).end();
      else sendText(response, "{}");
    });
    let lookups = 0;
    const resolve = async (): Promise<readonly Address[]> => {
      lookups++;
      return [{ address: lookups === 1 ? "127.0.0.1" : "10.0.0.1", family: 4 }];
    };
    const url = `http://agent.example:${server.port}/`;
    expect((await ask(url, { insecure: true, resolve })).text).toBe("{}");
    expect(lookups).toBe(1);
  });

  test("gets no request on loopback if its first look-up gave a public address", async () => {
    const server = await httpServer((_request, response) => sendText(response, "{}"));
    let lookups = 0;
    const resolve = async (): Promise<readonly Address[]> => {
      lookups++;
      return [{ address: lookups === 1 ? "203.0.112.1" : "127.0.0.1", family: 4 }];
    };
    const url = `http://agent.example:${server.port}/`;
    const asked = ask(url, { named: [], insecure: true, resolve, timeout: 100 });
    expect(await codeOf(asked)).toMatch(/^(timed_out|unreachable)$/);
    expect([lookups, server.requests]).toEqual([1, []]);
  });

  test("gets no request on loopback if its look-up gave a loopback address and a public address", async () => {
    const server = await httpServer((_request, response) => sendText(response, "{}"));
    const resolve = async (): Promise<readonly Address[]> => [
      { address: "127.0.0.1", family: 4 },
      { address: "203.0.112.1", family: 4 },
    ];
    const url = `http://agent.example:${server.port}/`;
    const asked = ask(url, { named: [], insecure: true, resolve, timeout: 100 });
    expect(await codeOf(asked)).toMatch(/^(timed_out|unreachable)$/);
    expect(server.requests).toEqual([]);
  });
});

describe("over TLS, pinnedGet", () => {
  const serving = async (): Promise<number> => {
    const server = createServer({ key: PRIVATE_KEY, cert: CERTIFICATE }, (_request, response) =>
      sendText(response, "{}"),
    );
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    afterAll(() => void server.close());
    const address = server.address();
    return typeof address === "object" ? (address?.port ?? 0) : 0;
  };
  const resolve = async (): Promise<readonly Address[]> => [{ address: "127.0.0.1", family: 4 }];

  test("connects to the pinned address, and checks the certificate against the name", async () => {
    const port = await serving();
    const access = { resolve, ca: CERTIFICATE };
    expect((await ask(`https://agent.example:${port}`, access)).text).toBe("{}");
    expect(await codeOf(ask(`https://other.example:${port}`, access))).toBe("tls_failed");
  });

  test("refuses a certificate from an unknown authority", async () => {
    const port = await serving();
    expect(await codeOf(ask(`https://agent.example:${port}`, { resolve }))).toBe("tls_failed");
  });

  test("refuses a server without TLS as tls_failed", async () => {
    const server = await httpServer((_request, response) => sendText(response, "{}"));
    const asked = ask(`https://agent.example:${server.port}`, { resolve });
    expect(await codeOf(asked)).toBe("tls_failed");
  });
});
