import { readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { grants, policy } from "../../examples/documents-agent/config.mjs";
import { fillLibrary } from "../../examples/documents-agent/library.mjs";
import { documentSkills } from "../../examples/documents-agent/skills.mjs";
import { expandGrants } from "../../src/agent/grant.js";
import { permitsResource } from "../../src/agent/policy.js";
import { PolicyTable } from "../../src/agent/policy-table.js";
import { temporaryFolder } from "../support/temporary-folder.js";
import { newAgent } from "./support.js";

describe("the library of the documents example", () => {
  test("has in every document the fields of its collection", async () => {
    const { folder } = await newAgent(fillLibrary);
    let count = 0;
    expect(await folder.collections()).toEqual(["classics", "letters", "project", "reports"]);
    for (const [collection, expected] of [
      ["classics", ["author", "confidential", "kind", "language", "source", "title", "year"]],
      ["letters", ["author", "confidential", "date", "kind", "recipient", "title", "year"]],
      ["project", ["confidential", "kind", "language", "path", "sections", "title", "words"]],
      ["reports", ["confidential", "department", "kind", "pages", "quarter", "title", "year"]],
    ] as const) {
      const found = await folder.find({ collection });
      for (const { name, fields } of found.ok ? found.resources : []) {
        count += 1;
        expect({ name, known: Object.keys(fields) }).toEqual({
          name,
          known: expect.arrayContaining([...expected]),
        });
      }
    }
    const q1 = await folder.find({ collection: "reports", filter: { quarter: "2025-Q1" } });
    expect(q1.ok && q1.resources.map(({ displayName }) => displayName)).toEqual(
      expect.arrayContaining(["Q1 2025 Financial Summary", "Q1 2025 Sales Report"]),
    );
    expect(count).toBeGreaterThan(60);
  });

  test("has exactly the collections that the card lists, with the fields that the card lists", async () => {
    const { folder } = await newAgent(fillLibrary);
    const config = new URL("../../examples/documents-agent/agent.json", import.meta.url);
    const { collections }: { collections: { name: string; fields: string[] }[] } = JSON.parse(
      readFileSync(config, "utf8"),
    );
    expect(collections.map(({ name }) => name).sort()).toEqual(await folder.collections());
    for (const { name, fields } of collections) {
      const found = await folder.find({ collection: name });
      const known = found.ok ? found.resources.flatMap((one) => Object.keys(one.fields)) : [];
      expect(known, name).toEqual(expect.arrayContaining(fields));
    }
  });

  test("gets new copies of the documents in project at a second start, and keeps the documents in letters as they are", () => {
    const path = join(temporaryFolder(), "documents");
    fillLibrary(path);
    rmSync(join(path, "letters", "lincoln-bixby.md"));
    writeFileSync(join(path, "letters", "mine.md"), "Mine.\n");
    writeFileSync(join(path, "project", "spec.md"), "Overwritten.\n");
    const letters = readdirSync(join(path, "letters"));
    fillLibrary(path);
    expect(readdirSync(join(path, "letters"))).toEqual(letters);
    const spec = readFileSync(
      fileURLToPath(new URL("../../docs/spec.md", import.meta.url)),
      "utf8",
    );
    expect(readFileSync(join(path, "project", "spec.md"), "utf8")).toMatch(/^---\ntitle: "The pr/);
    expect(readFileSync(join(path, "project", "spec.md"), "utf8").endsWith(`---\n\n${spec}`)).toBe(
      true,
    );
  });

  test("has a policy that permits each user what the README says", async () => {
    const { folder } = await newAgent(fillLibrary);
    const known = expandGrants(grants, documentSkills({ folder }));
    expect(known.map(({ id }) => id)).toEqual([
      "documents:read",
      "documents:write",
      "documents:admin",
    ]);
    const table = new PolicyTable(policy);
    const may = async (who: string, grant: string, operation: string, name: string) => {
      const resource = await folder.get(name);
      if (resource === undefined) throw new Error(`there is no ${name}`);
      return permitsResource(table.permissions(who, grant), operation, resource);
    };
    const salaries = "reports/2024-q4-salary-review.md";
    const summary = "reports/2025-q1-financial-summary.md";
    const letter = "letters/lincoln-bixby.md";
    expect(await may("bob", "documents:read", "retrieve", summary)).toBe(true);
    expect(await may("bob", "documents:read", "retrieve", salaries)).toBe(false);
    expect(await may("bob", "documents:read", "retrieve", letter)).toBe(false);
    expect(await may("bob", "documents:write", "update", summary)).toBe(false);
    expect(await may("alice", "documents:read", "retrieve", salaries)).toBe(true);
    expect(await may("alice", "documents:write", "create", "letters/")).toBe(true);
    expect(await may("alice", "documents:write", "update", letter)).toBe(true);
    expect(await may("alice", "documents:write", "create", "reports/")).toBe(false);
    expect(await may("carol", "documents:admin", "delete", salaries)).toBe(true);
    expect(await may("carol", "documents:read", "retrieve", summary)).toBe(false);
    expect(await may("mallory", "documents:read", "retrieve", summary)).toBe(false);
  });
});
