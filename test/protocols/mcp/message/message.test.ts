import { expect, test } from "vitest";
import {
  HOST_LIMITS,
  onOneLine,
  readMessage,
  SERVER_LIMITS,
} from "../../../../src/protocols/mcp/message/message.js";

const REQUEST = '{"jsonrpc":"2.0","id":1,"method":"ping"}';

test.each([
  ["a request", REQUEST, { kind: "request", id: 1, method: "ping" }],
  [
    "a request with a string as its id",
    '{"jsonrpc":"2.0","id":"","method":"a"}',
    { kind: "request", id: "" },
  ],
  [
    "a request with a negative id",
    '{"jsonrpc":"2.0","id":-3,"method":"a"}',
    { kind: "request", id: -3 },
  ],
  ["a notification", '{"jsonrpc":"2.0","method":"a","params":{}}', { kind: "notification" }],
  ["a result", '{"jsonrpc":"2.0","id":1,"result":{}}', { kind: "response", id: 1 }],
  ["an error", '{"id":"x","error":{"code":1,"message":""},"jsonrpc":"2.0"}', { kind: "response" }],
  ["an error about no message", '{"jsonrpc":"2.0","id":null,"error":{}}', { kind: "response" }],
  ["a request with spaces around it", ` ${REQUEST}\r`, { kind: "request" }],
])("readMessage keeps the text of a message as received: %s", (_, text, expected) => {
  for (const given of [text, Buffer.from(text)]) {
    expect(readMessage(given)).toMatchObject({ ok: true, message: { text, ...expected } });
  }
});

const call = (params: string): string =>
  `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":${params}}`;

test.each([
  ["text that is not JSON", "{", -32700, "not JSON"],
  ["a byte order mark", `\ufeff${REQUEST}`, -32700, "not JSON"],
  ["two messages", REQUEST + REQUEST, -32700, "not JSON"],
  ["a batch", `[${REQUEST}]`, -32600, "batch"],
  ["an empty batch", "[]", -32600, "batch"],
  ["a JSON string", '"x"', -32600, "not a JSON object"],
  ["null", "null", -32600, "not a JSON object"],
  ["another version of JSON-RPC", '{"jsonrpc":"1.0","id":1,"method":"a"}', -32600, "jsonrpc"],
  ["a request without a method", '{"jsonrpc":"2.0","id":1}', -32600, "no method"],
  ["a method that is not a string", '{"jsonrpc":"2.0","id":1,"method":["a"]}', -32600, "no method"],
  [
    "a request that is also a response",
    '{"jsonrpc":"2.0","id":1,"method":"a","result":{}}',
    -32600,
    "both",
  ],
  [
    "a response with both a result and an error",
    '{"jsonrpc":"2.0","id":1,"result":{},"error":{}}',
    -32600,
    "both",
  ],
  ["a result without an id", '{"jsonrpc":"2.0","result":{}}', -32600, '"id"'],
  ["a result that is a string", '{"jsonrpc":"2.0","id":1,"result":"x"}', -32600, "an object"],
  ["an id that is null", '{"jsonrpc":"2.0","id":null,"method":"a"}', -32600, '"id"'],
  ["an id with a fraction", '{"jsonrpc":"2.0","id":1.5,"method":"a"}', -32600, '"id"'],
  [
    "an id that a double cannot represent exactly",
    '{"jsonrpc":"2.0","id":9007199254740993,"method":"a"}',
    -32600,
    '"id"',
  ],
  [
    "a property that JSON-RPC does not have",
    '{"jsonrpc":"2.0","id":1,"method":"a","to":"b"}',
    -32600,
    '"to"',
  ],
  [
    "an answer with a property Method",
    '{"jsonrpc":"2.0","id":1,"result":{},"Method":"b"}',
    -32600,
    '"Method"',
  ],
  ["params by position", '{"jsonrpc":"2.0","id":1,"method":"a","params":[1]}', -32600, "params"],
  ["a method twice", '{"jsonrpc":"2.0","id":1,"method":"a","method":"b"}', -32600, "twice"],
  ["an escaped name twice", call('{"name":"a","n\\u0061me":"b"}'), -32600, "twice"],
  ["a name that occurs twice deep inside", call('{"x":[{"a":1,"a":2}]}'), -32600, "twice"],
  [
    "a method in two spellings",
    '{"jsonrpc":"2.0","id":1,"method":"a","METHOD":"b"}',
    -32600,
    "two",
  ],
  ["a name in two spellings", call('{"name":"a","Name":"b"}'), -32600, "spellings"],
  [
    "a second name with a Kelvin sign for k",
    call('{"arguments":{"key":1,"\u212aey":2}}'),
    -32600,
    "spellings",
  ],
  [
    "a second name with a long s for s",
    call('{"argument\u017f":{},"arguments":{}}'),
    -32600,
    "spellings",
  ],
  ["a lone surrogate", call('{"name":"\\ud83d"}'), -32600, "lone surrogate"],
  ["a lone surrogate in a name", call('{"arguments":{"\\ud83d":1}}'), -32600, "lone surrogate"],
])("readMessage refuses %s", (_, text, code, reason) => {
  for (const given of [text, Buffer.from(text)]) {
    const read = readMessage(given);
    expect(read).toMatchObject({ ok: false, code });
    expect(read.ok ? "" : read.reason).toContain(reason);
  }
});

test("readMessage refuses bytes that are not UTF-8, and a string with a lone surrogate", () => {
  const bytes = Buffer.from(REQUEST);
  bytes[bytes.indexOf("p")] = 0xff;
  expect(readMessage(bytes)).toMatchObject({ ok: false, code: -32700 });
  expect(readMessage(`{"jsonrpc":"2.0","id":1,"method":"\ud83d"}`)).toMatchObject({ ok: false });
});

test("readMessage enforces the limits of size and depth exactly", () => {
  const limits = { ...HOST_LIMITS, bytes: Buffer.byteLength(REQUEST), depth: 3 };
  expect(readMessage(REQUEST, limits).ok).toBe(true);
  expect(readMessage(`${REQUEST} `, limits)).toMatchObject({ ok: false, code: -32600 });
  const deep = '{"jsonrpc":"2.0","id":1,"method":"é","params":{"a":[]}}';
  const room = { ...limits, bytes: Buffer.byteLength(deep) };
  expect(readMessage(deep, room).ok).toBe(true);
  expect(readMessage(deep, { ...room, bytes: room.bytes - 1 }).ok).toBe(false);
  expect(readMessage(deep, { ...room, depth: 2 }).ok).toBe(false);
  expect(readMessage("[".repeat(1_000_000)).ok).toBe(false);
});

test("a refusal of readMessage has the id of the message, and says whether the message is an answer", () => {
  const of = (text: string) => readMessage(text);
  expect(of(call('{"name":"a","Name":"b"}'))).toMatchObject({ id: 1, isAnswer: false });
  expect(of('{"jsonrpc":"2.0","id":7,"result":{"a":1,"a":2}}')).toMatchObject({
    id: 7,
    isAnswer: true,
  });
  expect(of(`[${REQUEST}]`)).toMatchObject({ id: null, isAnswer: false });
  expect(of('{"jsonrpc":"2.0","id":{},"method":"a"}')).toMatchObject({ id: null });
});

test("with SERVER_LIMITS, readMessage accepts a lone surrogate and refuses a batch", () => {
  const text = '{"jsonrpc":"2.0","id":1,"result":{"text":"cut \\ud83d"}}';
  expect(readMessage(text, SERVER_LIMITS)).toMatchObject({ ok: true, message: { text } });
  expect(readMessage(text).ok).toBe(false);
  expect(readMessage(`[${text}]`, SERVER_LIMITS).ok).toBe(false);
});

test("onOneLine removes every character that a reader may take for a line end, and keeps the value of the message", () => {
  const hidden = '\u2028{"jsonrpc":"2.0","id":2,"method":"tools/call"}\u2029';
  const text = JSON.stringify({ a: `${hidden}\u0085`, b: "\n\r" }, null, 2).replace("\n", "\r\n");
  const line = onOneLine(text);
  expect(line).not.toMatch(/[\n\r\u0085\u2028\u2029]/);
  expect(JSON.parse(line)).toEqual(JSON.parse(text));
  expect(onOneLine(REQUEST)).toBe(REQUEST);
});
