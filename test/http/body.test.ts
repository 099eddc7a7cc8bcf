import { AsyncLocalStorage } from "node:async_hooks";
import { once } from "node:events";
import { type AddressInfo, connect } from "node:net";
import express, { type RequestHandler } from "express";
import { expect, test } from "vitest";
import { jsonBody } from "../../src/http/body.js";

/**
 * Starts an app that answers with the body that it has read. @param before - Middleware that runs before the
 * reader of the body.
 */
async function echo(...before: RequestHandler[]) {
  const app = express();
  const received: number[] = [];
  const read = jsonBody(
    ["application/json", "application/a2a+json"],
    { bytes: 64, depth: 3 },
    (res, why) => {
      res.status(why.status).json(why);
    },
    (_req, bytes) => received.push(bytes.length),
  );
  app.use(...before, read, (req, res) => {
    res.json({ body: req.body ?? "nothing", received: received.at(-1) ?? "nothing" });
  });
  const server = app.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  return { port, close: () => server.close() };
}

/** Sends these bytes in pieces, and returns the status and body of the answer. */
async function answerTo(port: number, pieces: readonly Buffer[]): Promise<string> {
  const socket = connect(port, "127.0.0.1");
  const closed = once(socket, "close");
  let answer = "";
  socket.on("data", (text) => {
    answer += text.toString();
  });
  for (const piece of pieces) {
    socket.write(piece);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  await closed;
  const [head = "", body = ""] = answer.split("\r\n\r\n");
  return `${head.split("\r\n")[0]} ${body}`;
}

const head = (...lines: string[]): Buffer =>
  Buffer.from(`POST / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n${lines.join("\r\n")}\r\n\r\n`);
const JSON_TYPE = "Content-Type: application/json";

function withBody(body: Buffer | string, ...lines: string[]): readonly Buffer[] {
  const bytes = Buffer.from(body);
  return [head(...lines, `Content-Length: ${bytes.length}`), bytes];
}

const REQUESTS: Readonly<Record<string, readonly Buffer[]>> = {
  object: withBody('{"a":[1,"é"]}', JSON_TYPE),
  "object in three pieces": [
    ...withBody('{"a":"long"}', JSON_TYPE).slice(0, 1),
    ...['{"a":', '"lo', 'ng"}'].map((text) => Buffer.from(text)),
  ],
  "character in two pieces": [
    ...withBody('{"a":"é"}', JSON_TYPE).slice(0, 1),
    Buffer.from('{"a":"é"}').subarray(0, 7),
    Buffer.from('{"a":"é"}').subarray(7),
  ],
  "at the limit": withBody(`{"a":"${"x".repeat(56)}"}`, JSON_TYPE),
  "over the limit": withBody(`{"a":"${"x".repeat(57)}"}`, JSON_TYPE),
  "byte order mark": withBody("\uFEFF{}", JSON_TYPE),
  "two byte order marks": withBody("\uFEFF\uFEFF{}", JSON_TYPE),
  "not UTF-8": withBody(
    Buffer.from([0x7b, 0x22, 0xff, 0xe2, 0x82, 0x22, 0x3a, 0x31, 0x7d]),
    JSON_TYPE,
  ),
  "a member twice": withBody('{"a":1,"a":2}', JSON_TYPE),
  "a number beyond doubles": withBody('{"a":9007199254740993}', JSON_TYPE),
  "a number that is infinite": withBody('{"a":1e999}', JSON_TYPE),
  "a number in another spelling": withBody('{"a":1.50}', JSON_TYPE),
  "half of a pair": withBody('{"a":"\\ud800"}', JSON_TYPE),
  deep: withBody('{"a":{"a":{"a":{}}}}', JSON_TYPE),
  list: withBody("[1]", JSON_TYPE),
  text: withBody('"a"', JSON_TYPE),
  "not JSON": withBody("{not", JSON_TYPE),
  blank: withBody(" ", JSON_TYPE),
  empty: withBody("", JSON_TYPE),
  "no body": [head(JSON_TYPE)],
  "other type": withBody("{}", "Content-Type: text/plain"),
  "no type": withBody("{}"),
  "second type": withBody("{}", "Content-Type: application/a2a+json"),
  "type in capitals": withBody("{}", "Content-Type: Application/JSON"),
  charset: withBody("{}", `${JSON_TYPE}; charset=utf-8`),
  "other charset": withBody("{}", `${JSON_TYPE}; charset=utf-16`),
  "unknown charset": withBody("{}", `${JSON_TYPE}; charset=latin1`),
  compressed: withBody("{}", JSON_TYPE, "Content-Encoding: gzip"),
  identity: withBody("{}", JSON_TYPE, "Content-Encoding: identity"),
  chunked: [head(JSON_TYPE, "Transfer-Encoding: chunked"), Buffer.from("2\r\n{}\r\n0\r\n\r\n")],
};

const ANSWERS: Readonly<Record<string, string>> = {
  object: '200 {"a":[1,"é"]}',
  "object in three pieces": '200 {"a":"long"}',
  "character in two pieces": '200 {"a":"é"}',
  "at the limit": '200 {"a":"x',
  "over the limit": "413 too_large",
  "byte order mark": "200 {}",
  "two byte order marks": "400 parse_error",
  "not UTF-8": '200 {"\uFFFD\uFFFD":1}',
  "a member twice": "400 invalid_request",
  "a number beyond doubles": "400 invalid_request",
  "a number that is infinite": "400 invalid_request",
  "a number in another spelling": '200 {"a":1.5}',
  "half of a pair": "400 invalid_request",
  deep: "400 too_deep",
  list: "400 invalid_request",
  text: "400 invalid_request",
  "not JSON": "400 parse_error",
  blank: "400 parse_error",
  empty: "200 {}",
  "no body": '200 "nothing"',
  "other type": '200 "nothing"',
  "no type": '200 "nothing"',
  "second type": "200 {}",
  "type in capitals": "200 {}",
  charset: "200 {}",
  "other charset": "400 parse_error",
  "unknown charset": "400 invalid_request",
  compressed: "400 invalid_request",
  identity: "200 {}",
  chunked: "200 {}",
};

test.each(Object.entries(ANSWERS))(
  'jsonBody, for the request "%s", answers %s',
  async (name, expected) => {
    const { port, close } = await echo();
    const answer = await answerTo(port, REQUESTS[name] ?? []);
    close();
    const [status = "", wanted = ""] = expected.split(/ (.*)/s);
    expect(answer).toContain(`HTTP/1.1 ${status} `);
    expect(answer).toContain(status === "200" ? `{"body":${wanted}` : `"reason":"${wanted}"`);
  },
);

test("jsonBody answers further requests after a client has disconnected in the middle of a body", async () => {
  const { port, close } = await echo();
  const socket = connect(port, "127.0.0.1");
  const [first = Buffer.alloc(0), body = Buffer.alloc(0)] = withBody('{"a":"long"}', JSON_TYPE);
  socket.write(Buffer.concat([first, body.subarray(0, 4)]));
  await new Promise((resolve) => setTimeout(resolve, 20));
  socket.destroy();
  expect(await answerTo(port, withBody("{}", JSON_TYPE))).toBe(
    'HTTP/1.1 200 OK {"body":{},"received":2}',
  );
  close();
});

test("jsonBody uses a body that earlier middleware has parsed", async () => {
  const { port, close } = await echo(express.json());
  expect(await answerTo(port, withBody('{"a":1}', JSON_TYPE))).toContain('{"a":1}');
  close();
});

test.each([true, false])(
  "jsonBody keeps the asynchronous context of earlier middleware (body in one packet with the headers: %s)",
  async (whole) => {
    const user = new AsyncLocalStorage<string>();
    const seen: (string | undefined)[] = [];
    const app = express();
    const read = jsonBody(["application/json"], { bytes: 64, depth: 3 }, () => {});
    app.use(
      (_req, _res, next) => user.run("alice", next),
      read,
      (_req, res) => {
        seen.push(user.getStore());
        res.json({});
      },
    );
    const server = app.listen(0, "127.0.0.1");
    await once(server, "listening");
    const pieces = withBody('{"a":1}', JSON_TYPE);
    await answerTo(
      (server.address() as AddressInfo).port,
      whole ? [Buffer.concat(pieces)] : pieces,
    );
    expect(seen).toEqual(["alice"]);
    server.close();
  },
);
