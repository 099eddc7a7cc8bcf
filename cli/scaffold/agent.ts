// Contents of the files that `proviso init agent` writes.

import { PORT, readme } from "./readme.js";

/** Values that differ between new agents. */
interface NewAgent {
  readonly name: string;
  /** The path from the agent's folder to the JSON Schema of the configuration, with `/` as the separator. */
  readonly schema: string;
  /** The access token for use in development. */
  readonly accessToken: string;
}

interface ScaffoldFile {
  readonly name: string;
  readonly text: string;
  /** True if only the owner may read the file. */
  readonly isPrivate?: boolean;
}

/** The path, within a new agent's folder, of the folder for its keys and database. */
export const HOME_FOLDER = "home";

/** Returns every file of a new agent except those of its home. */
export function agentFiles({ name, schema, accessToken }: NewAgent): readonly ScaffoldFile[] {
  const config = {
    $schema: schema,
    name,
    description: "Adds numbers",
    version: "1.0.0",
    home: HOME_FOLDER,
    listen: { port: PORT },
    delegates: [],
    grants: [{ id: "numbers:use", description: "Calculate", operations: ["add"] }],
    policy: "policy.json",
    skills: "skills.mjs",
    authentication: { development: "tokens.json" },
  };
  const policy = {
    $schema: `${schema}#/$defs/policy`,
    rules: [{ principal: "alice", grant: "numbers:use", operations: ["add"] }],
  };
  const tokens = [{ token: accessToken, principal: "alice", invoker: "assistant" }];
  return [
    { name: "agent.json", text: json(config) },
    { name: "policy.json", text: json(policy) },
    { name: "skills.mjs", text: SKILLS },
    { name: "skills.test.mjs", text: SKILLS_TEST },
    { name: "tokens.json", text: json(tokens), isPrivate: true },
    { name: "README.md", text: readme(name) },
    { name: ".gitignore", text: `/${HOME_FOLDER}/\n/tokens.json\n/capability\n/narrowed\n` },
  ];
}

function json(value: unknown): string {
  return `${JSON.stringify(value, undefined, 2)}\n`;
}

/** The file `skills.mjs` of a new agent. It has one skill, and needs no packages. */
const SKILLS = `// What the agent does. proviso serve loads this file and calls its default export, with
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

/** The file `skills.test.mjs` of a new agent, for `node --test`. */
const SKILLS_TEST = `import assert from "node:assert/strict";
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
