// cli/scaffold/: what `proviso init agent` writes: its files as text, and how they get to their folder.
import { PORT, readme } from "./readme.js";
import { SKILLS, SKILLS_TEST } from "./skills.js";

/** What differs from one new agent to the next. */
export interface NewAgent {
  readonly name: string;
  /** The schema of the configuration, as a path from the agent's folder, with `/`. */
  readonly schema: string;
  /** The access token for development. */
  readonly accessToken: string;
}

/** A file of a new agent. */
export interface ScaffoldFile {
  readonly name: string;
  readonly text: string;
  /** Whether only its owner may read it. */
  readonly isPrivate?: boolean;
}

/** Where a new agent keeps its keys and its database, from its folder. */
export const HOME_FOLDER = "home";

/** Every file of a new agent but those of its home. */
export function agentFiles({ name, schema, accessToken }: NewAgent): readonly ScaffoldFile[] {
  const config = {
    $schema: schema,
    ...{ name, description: "Adds numbers", version: "1.0.0", home: HOME_FOLDER },
    listen: { port: PORT },
    grants: [{ id: "numbers:use", description: "Calculate", operations: ["add"] }],
    ...{ policy: "policy.json", skills: "skills.mjs" },
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
