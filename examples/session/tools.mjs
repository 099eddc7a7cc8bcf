// The tools of the example host. `proviso session serve` calls the default export, and serves the tools that it
// returns.

/** @import { SessionTool } from "../../src/protocols/a2e/plugins/tools-plugin.js" */

const amount = { type: "number" };
const text = { type: "string", maxLength: 10_000 };

/**
 * @param {{ configFolder: string }} _context - The folder of session.json.
 * @returns {readonly SessionTool[]}
 */
export default function tools(_context) {
  return [
    {
      name: "add",
      description: "Adds two numbers",
      input: {
        type: "object",
        properties: { a: amount, b: amount },
        required: ["a", "b"],
        additionalProperties: false,
      },
      run: ({ arguments: { a, b } }) => ({ sum: Number(a) + Number(b) }),
    },
    {
      name: "count_words",
      description: "Counts the words of a text, line by line",
      input: {
        type: "object",
        properties: { text },
        required: ["text"],
        additionalProperties: false,
      },
      async run({ arguments: given, send }) {
        let words = 0;
        for (const [at, line] of String(given["text"]).split("\n").entries()) {
          const own = line.split(/\s+/).filter((word) => word !== "").length;
          words += own;
          await send({ line: at + 1, words: own });
        }
        return { words };
      },
    },
  ];
}
