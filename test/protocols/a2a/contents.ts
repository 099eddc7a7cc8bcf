import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import {
  type PolicyDefinition,
  type Skill,
  type SkillCall,
  SkillInputError,
} from "../../../src/agent/index.js";
import type { Resource } from "../../../src/agent/resources/resource.js";
import type { Json } from "../../../src/bytes/json.js";
import type { Grant } from "../../../src/issuer/index.js";
import type { ResourceFolder } from "../../../src/sources/index.js";

const DOCUMENTS: Readonly<Record<string, string>> = {
  "reports/q1.md":
    "---\ntitle: First quarter\nquarter: 2025-Q1\nconfidential: false\n---\nRevenue rose by a tenth.\n",
  "reports/q1-sales.md":
    "---\ntitle: Sales of the first quarter\nquarter: 2025-Q1\nconfidential: false\n---\nRevenue per shop.\n",
  "reports/q2.md":
    "---\ntitle: Second quarter\nquarter: 2025-Q2\nconfidential: false\n---\nRevenue fell again.\n",
  "reports/merger.md":
    "---\ntitle: The merger\nquarter: 2025-Q1\nconfidential: true\n---\nRevenue after the merger.\n",
  "letters/bixby.md": "---\ntitle: To Mrs Bixby\n---\nI have been shown in the files.\n",
};

/** Writes the folder of the test agent's documents. */
export function writeDocuments(folder: string): void {
  for (const [name, text] of Object.entries(DOCUMENTS)) {
    mkdirSync(join(folder, name, ".."), { recursive: true });
    writeFileSync(join(folder, name), text);
  }
}

export const GRANTS: readonly Grant[] = [
  { id: "documents:read", description: "Read documents", operations: ["retrieve", "search"] },
  {
    id: "documents:write",
    description: "Create documents",
    operations: ["create"],
    requires: ["documents:read"],
  },
  { id: "payments:send", description: "Pay", operations: ["pay"] },
  {
    id: "work:do",
    description: "Work that takes its time",
    operations: ["wait", "fail", "choose"],
  },
  {
    id: "work:sealed",
    description: "The same, for nobody else",
    operations: ["wait"],
    attenuable: false,
  },
  {
    id: "documents:admin",
    description: "Everything, for what knows no capabilities",
    operations: ["*"],
    attenuable: false,
    legacy: true,
  },
];

const everything = { collections: "*" } as const;
const open = { collections: ["reports"], filter: { confidential: false } };

export const POLICY: PolicyDefinition = {
  groups: { analysts: ["alice", "bob"] },
  rules: [
    { group: "analysts", grant: "documents:read", operations: "*", resources: open },
    {
      principal: "alice",
      grant: "documents:read",
      operations: "*",
      resources: { collections: ["letters"] },
    },
    {
      principal: "alice",
      grant: "documents:write",
      operations: "*",
      resources: { collections: ["letters"] },
    },
    { group: "analysts", grant: "payments:send", operations: "*" },
    { group: "analysts", grant: "work:do", operations: "*" },
    { group: "analysts", grant: "work:sealed", operations: "*" },
    { principal: "carol", grant: "documents:admin", operations: "*", resources: everything },
  ],
};

/** The message of an error that a skill throws. Only the agent's log may contain it. */
const FAILURE = "the database at db.internal said no to password-of-the-agent";

const HANDLE: Json = { type: "string", format: "resource-handle" };

function object(properties: { readonly [name: string]: Json }): Skill["input"] {
  const required = Object.keys(properties);
  return { type: "object", properties, required, additionalProperties: false };
}

/**
 * Returns the test agent's skills. @param ran - Called at the start of each run. Nothing else shows that a
 * skill has run.
 */
export function skillsOver(folder: ResourceFolder, ran: (call: string) => void): readonly Skill[] {
  const skill = (
    id: string,
    operation: string,
    more: Pick<Skill, "reach" | "input"> & Partial<Skill>,
    run: (call: SkillCall) => Promise<Json>,
  ): Skill => ({
    id,
    name: id.replaceAll("_", " "),
    description: `For tests: ${id}`,
    operation,
    ...more,
    run: (call) => {
      ran(id);
      return run(call);
    },
  });
  const titles = (call: SkillCall): Json =>
    [...call.resources.values()].map(({ displayName }) => displayName);
  return [
    skill(
      "retrieve_document",
      "retrieve",
      { reach: "named", input: object({ resourceHandle: HANDLE }) },
      async (call) => {
        const [resource] = call.resources.values();
        return {
          title: resource?.displayName ?? "",
          text: await folder.readText(resource?.name ?? ""),
        };
      },
    ),
    skill(
      "compare_documents",
      "retrieve",
      {
        reach: "named",
        input: object({ pair: object({ left: HANDLE, others: { type: "array", items: HANDLE } }) }),
      },
      async (call) => titles(call),
    ),
    skill(
      "search_documents",
      "search",
      { reach: "scoped", input: object({ query: { type: "string" } }) },
      async (call) => {
        const found: string[] = [];
        const query = String(call.arguments["query"]);
        for (const { name, displayName } of call.resources.values()) {
          if ((await folder.readText(name)).includes(query)) found.push(displayName);
        }
        return found.sort();
      },
    ),
    skill(
      "create_document",
      "create",
      {
        reach: "named",
        target: "collection",
        input: object({
          collection: HANDLE,
          fileName: { type: "string" },
          text: { type: "string" },
        }),
      },
      async (call) => {
        const [resource] = call.resources.values();
        const { fileName, text } = call.arguments;
        return folder.create((resource as Resource).collection, String(fileName), String(text));
      },
    ),
    skill(
      "pay",
      "pay",
      { reach: "none", input: object({ amount: { type: "number" }, to: { type: "string" } }) },
      async ({ arguments: { amount = null, to = null } }) => ({ paid: amount, to }),
    ),
    skill(
      "wait",
      "wait",
      { reach: "none", input: object({ milliseconds: { type: "integer", minimum: 0 } }) },
      async ({ arguments: given, signal }) => {
        await pause(Number(given["milliseconds"]), undefined, { signal });
        return { waited: given["milliseconds"] ?? null };
      },
    ),
    skill(
      "choosy",
      "choose",
      { reach: "none", input: object({ amount: { type: "number" } }) },
      async ({ arguments: { amount = null } }) => {
        throw new SkillInputError(`the amount must be "round": ${amount} is not`);
      },
    ),
    skill("fail", "fail", { reach: "none", input: object({}) }, async () => {
      throw new Error(FAILURE);
    }),
  ];
}
