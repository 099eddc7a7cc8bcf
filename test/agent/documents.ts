import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { PolicyDefinition } from "../../src/agent/policy-table.js";
import type { Resource } from "../../src/agent/resources/resource.js";
import type { Skill } from "../../src/agent/skill.js";
import type { Grant } from "../../src/issuer/grant.js";
import type { ResourceFolder } from "../../src/sources/resource-folder.js";

const FILES: { readonly [path: string]: string } = {
  "reports/q1.md": "title: First quarter\nquarter: Q1\nconfidential: false",
  "reports/q2.md": "title: Second quarter\nquarter: Q2\nconfidential: false",
  "reports/merger.md": "title: Merger\nquarter: Q1\nconfidential: true",
  "letters/aunt.md": "title: To my aunt\nyear: 1901",
  "vault/keys.md": "title: Keys\nconfidential: true",
};

/** Writes the documents of these tests into a folder. */
export function writeDocuments(root: string): void {
  for (const [path, fields] of Object.entries(FILES)) {
    mkdirSync(join(root, path, ".."), { recursive: true });
    writeFileSync(join(root, path), `---\n${fields}\n---\nText of ${path}.\n`);
  }
}

const handle = { type: "string", format: "resource-handle" };

/** Returns real skills on a folder; each run is recorded in `ran`. */
export function documentSkills(folder: ResourceFolder, ran: string[]): readonly Skill[] {
  const shared = { description: "For tests" };
  const names = (resources: ReadonlyMap<string, Resource>): string[] =>
    [...resources.values()].map(({ name }) => name).sort();
  return [
    {
      id: "retrieve",
      name: "Retrieve",
      ...shared,
      operation: "retrieve",
      reach: "named",
      input: {
        type: "object",
        properties: { document: handle, page: { type: "integer" } },
        required: ["document"],
        additionalProperties: false,
      },
      run: async ({ resources }) => {
        ran.push("retrieve");
        const texts = names(resources).map((name) => folder.readText(name));
        return (await Promise.all(texts)).join("");
      },
    },
    {
      // The schema accepts any object, so that only the gate limits the arguments.
      id: "compare",
      name: "Compare",
      ...shared,
      operation: "retrieve",
      reach: "named",
      input: { type: "object" },
      run: async ({ resources }) => {
        ran.push("compare");
        return names(resources);
      },
    },
    {
      id: "list",
      name: "List",
      ...shared,
      operation: "list",
      reach: "scoped",
      input: { type: "object" },
      run: async ({ resources }) => {
        ran.push("list");
        return names(resources);
      },
    },
    {
      id: "update",
      name: "Update",
      ...shared,
      operation: "update",
      reach: "named",
      input: {
        type: "object",
        properties: { document: handle, text: { type: "string" }, size: { type: "integer" } },
        required: ["document", "text"],
        additionalProperties: false,
      },
      run: async ({ arguments: given, resources }) => {
        ran.push("update");
        const text = String(given["text"]);
        await Promise.all(names(resources).map((name) => folder.writeText(name, text)));
        return null;
      },
    },
    {
      id: "create",
      name: "Create",
      ...shared,
      operation: "create",
      reach: "named",
      target: "collection",
      input: {
        type: "object",
        properties: { in: handle, file: { type: "string" }, text: { type: "string" } },
        required: ["in", "file", "text"],
        additionalProperties: false,
      },
      run: async ({ arguments: given, resources }) => {
        ran.push("create");
        const [collection] = [...resources.values()];
        const { file, text } = given;
        return folder.create(collection?.collection ?? "", String(file), String(text));
      },
    },
    {
      id: "browse",
      name: "Browse",
      ...shared,
      operation: "browse",
      reach: "scoped",
      target: "collection",
      input: { type: "object", additionalProperties: false },
      run: async ({ resources }) => {
        ran.push("browse");
        return names(resources);
      },
    },
    {
      id: "tell",
      name: "Tell",
      ...shared,
      operation: "tell",
      reach: "none",
      input: { type: "object" },
      run: async ({ principal }) => {
        ran.push("tell");
        return `hello ${principal}`;
      },
    },
  ];
}

export const GRANTS: readonly Grant[] = [
  {
    id: "documents:read",
    description: "Read documents",
    operations: ["retrieve", "list", "browse"],
  },
  {
    id: "documents:write",
    description: "Write documents",
    operations: ["create", "update"],
    requires: ["documents:read"],
  },
  { id: "clock:read", description: "Tell the time", operations: ["tell"] },
  {
    id: "documents:admin",
    description: "Everything",
    operations: ["*"],
    attenuable: false,
    legacy: true,
  },
];

/** Alice reads open reports and writes reports of the first quarter; Bob reads letters. */
export const POLICY: PolicyDefinition = {
  groups: { people: ["alice", "bob"] },
  rules: [
    {
      principal: "alice",
      grant: "documents:read",
      operations: ["retrieve", "list"],
      resources: { collections: ["reports"], filter: { confidential: false } },
    },
    {
      principal: "alice",
      grant: "documents:write",
      operations: ["update"],
      resources: { collections: ["reports"], filter: { quarter: "Q1", confidential: false } },
    },
    {
      principal: "alice",
      grant: "documents:write",
      operations: ["create"],
      resources: { collections: ["reports"] },
    },
    {
      principal: "alice",
      grant: "documents:admin",
      operations: "*",
      resources: { collections: ["reports"], filter: { confidential: false } },
    },
    {
      principal: "bob",
      grant: "documents:read",
      operations: "*",
      resources: { collections: ["letters"] },
    },
    { group: "people", grant: "clock:read", operations: "*" },
  ],
};
