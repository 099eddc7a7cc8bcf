/** `skills.mjs` of a new agent: one skill, and nothing to install. */
export const SKILLS = `// What the agent does. proviso serve loads this file and calls its default export, with
// {resources, resourcesPath, home, configFolder}; each call has passed every check before run.

const add = {
  id: "add",
  name: "Add",
  description: "The sum of two numbers",
  operation: "add",
  reach: "none",
  effect: "read",
  input: {
    type: "object",
    properties: { a: { type: "number" }, b: { type: "number" } },
    required: ["a", "b"],
    additionalProperties: false,
  },
  run: async ({ arguments: { a, b } }) => ({ sum: a + b }),
};

export default async () => ({ skills: [add] });
`;

/** `skills.test.mjs` of a new agent, for `node --test`. */
export const SKILLS_TEST = `import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import agent from "./skills.mjs";

const { skills } = await agent({});
const config = JSON.parse(readFileSync(new URL("agent.json", import.meta.url), "utf8"));

test("add gives the sum", async () => {
  const add = skills.find(({ id }) => id === "add");
  assert.deepEqual(await add.run({ arguments: { a: 2, b: 3 } }), { sum: 5 });
});

test("a grant has the operation of every skill", () => {
  const granted = config.grants.flatMap(({ operations }) => operations);
  for (const { id, operation } of skills) assert.ok(granted.includes(operation), id);
});
`;
