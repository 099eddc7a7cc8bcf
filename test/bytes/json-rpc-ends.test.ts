import { expect, test } from "vitest";
import { jsonRpcEnds } from "../../src/bytes/json-rpc-ends.js";
import { LineSplitter } from "../../src/bytes/line-splitter.js";

const FILL = "x".repeat(1000);

/** Returns the result of jsonRpcEnds for a line over the limit, which arrives in pieces of `piece` bytes. */
function endsOf(line: string, piece: number) {
  const splitter = new LineSplitter(300);
  const bytes = Buffer.from(`${line}\n`);
  for (let at = 0; at < bytes.length; at += piece) {
    for (const one of splitter.split(bytes.subarray(at, at + piece))) {
      if (one.kind === "too_large") return jsonRpcEnds(one.head, one.tail);
    }
  }
  throw new Error("the line is within the limit");
}

test.each([
  ["before the result", `{"jsonrpc":"2.0","id":7,"result":{"text":"${FILL}"}}`, 7],
  ["before the version", `{"id":"a-7","jsonrpc":"2.0","result":{"text":"${FILL}"}}`, "a-7"],
  ["after the result", `{"result":{"text":"${FILL}"},"jsonrpc":"2.0","id":7}`, 7],
  ["between the result and the version", `{"result":{"text":"${FILL}"},"id":7,"jsonrpc":"2.0"}`, 7],
  ["after an error", `{ "error": {"message":"${FILL}"}, "jsonrpc": "2.0", "id": 7 }`, 7],
  [
    "beside other ids in the result",
    `{"result":{"id":8,"text":"${FILL}","a":{"b":1,"id":9}},"id":7}`,
    7,
  ],
  [
    "in a message with characters of several bytes",
    `{"id":0,"result":{"text":"${"é🙂".repeat(200)}"}}`,
    0,
  ],
])("jsonRpcEnds finds the id of an answer over the size limit if the id is %s", (_, line, id) => {
  for (const piece of [1, 7, 64, 2000]) {
    expect(endsOf(line, piece)).toEqual({ kind: "answer", id });
  }
});

test.each([
  ["before its method", `{"jsonrpc":"2.0","id":7,"method":"x","params":{"text":"${FILL}"}}`],
  ["after its parameters", `{"method":"x","params":{"text":"${FILL}"},"jsonrpc":"2.0","id":7}`],
  ["after its parameters, in a request without a method", `{"params":{"text":"${FILL}"},"id":7}`],
])(
  "jsonRpcEnds finds the kind and the id of a request over the size limit if the id is %s",
  (_, line) => {
    for (const piece of [1, 64, 2000]) {
      expect(endsOf(line, piece)).toEqual({ kind: "request", id: 7 });
    }
  },
);

test("jsonRpcEnds calls a message over the size limit a notification if it has a method and no id", () => {
  for (const line of [
    `{"jsonrpc":"2.0","method":"x","params":{"text":"${FILL}"}}`,
    `{"method":"x","params":{"text":"${FILL}","a":1,"id":9}}`,
  ]) {
    expect(endsOf(line, 64)).toEqual({ kind: "notification" });
  }
});

test.each([
  ["an id only inside the result", `{"result":{"text":"${FILL}","a":1,"id":9}}`],
  ["an id inside a string", `{"result":{"text":"${FILL},\\"id\\":9}"}}`],
  ["an id that is not JSON", `{"id":007,"result":{"text":"${FILL}"}}`],
  ["an id with a raw control character", `{"id":"a\tb","result":{"text":"${FILL}"}}`],
  ["a string that is not JSON", FILL],
])("jsonRpcEnds finds no id in a line over the size limit with %s", (_, line) => {
  expect(endsOf(line, 64)).toBeUndefined();
});
