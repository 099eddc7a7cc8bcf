import { expect, test } from "vitest";
import {
  type ServerLine,
  ServerLines,
  UnreadableLineError,
} from "../../../../src/protocols/a2e/plugins/mcp/server-lines.js";

const FILL = "x".repeat(1000);

/** What comes of lines in pieces of some bytes, with a limit of 300 bytes. */
function cut(text: string, piece = 7): readonly ServerLine[] {
  const lines = new ServerLines(300);
  const bytes = Buffer.from(text);
  const found: ServerLine[] = [];
  for (let at = 0; at < bytes.length; at += piece) {
    found.push(...lines.cut(bytes.subarray(at, at + piece)));
  }
  return found;
}

test("lines within the limit come whole, in whatever pieces", () => {
  const text = '{"a":"é"}\n\n{"b":1}\n{"unfinished"';
  for (const piece of [1, 2, 7, 1000]) {
    expect(cut(text, piece)).toEqual([
      { kind: "line", text: '{"a":"é"}' },
      { kind: "line", text: "" },
      { kind: "line", text: '{"b":1}' },
    ]);
  }
});

test.each([
  ["before the result", `{"jsonrpc":"2.0","id":7,"result":{"text":"${FILL}"}}`, 7],
  ["before the version", `{"id":"a-7","jsonrpc":"2.0","result":{"text":"${FILL}"}}`, "a-7"],
  ["behind the result", `{"result":{"text":"${FILL}"},"jsonrpc":"2.0","id":7}`, 7],
  ["between", `{"result":{"text":"${FILL}"},"id":7,"jsonrpc":"2.0"}`, 7],
  ["behind an error", `{ "error": {"message":"${FILL}"}, "jsonrpc": "2.0", "id": 7 }`, 7],
  ["with others within", `{"result":{"id":8,"text":"${FILL}","a":{"b":1,"id":9}},"id":7}`, 7],
])("the id of an answer over the limit is found %s", (_, line, id) => {
  for (const piece of [1, 7, 64, 2000]) {
    const found = cut(`${line}\n{"next":1}\n`, piece);
    expect(found).toEqual([
      { kind: "too_large", id },
      { kind: "line", text: '{"next":1}' },
    ]);
  }
});

test.each([
  ["a request of the server", `{"jsonrpc":"2.0","id":7,"method":"x","params":{"text":"${FILL}"}}`],
  ["an id within the result alone", `{"result":{"text":"${FILL}","a":1,"id":9}}`],
  ["an id within a text", `{"result":{"text":"${FILL},\\"id\\":9}"}}`],
  ["what is no JSON", FILL],
])("%s is never taken for an answer", (_, line) => {
  expect(() => cut(`${line}\n`)).toThrow(UnreadableLineError);
});
