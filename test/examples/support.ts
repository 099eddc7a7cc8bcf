import { createHash } from "node:crypto";
import { join } from "node:path";
import { expect } from "vitest";
import { documentSkills } from "../../examples/documents-agent/skills.mjs";
import { compileArgumentChecks } from "../../src/agent/arguments.js";
import type { Resource } from "../../src/agent/resources/resource.js";
import type { Json } from "../../src/bytes/json.js";
import { type FolderOptions, openFolder } from "../../src/sources/folder.js";
import type { ResourceFolder } from "../../src/sources/resource-folder.js";
import { temporaryFolder } from "../support/temporary-folder.js";

type Arguments = { readonly [name: string]: Json };

/** The skills of the documents agent over a folder, without the gate in front of them. */
export interface Agent {
  readonly path: string;
  readonly folder: ResourceFolder;
  /** Runs a skill. The arguments must fit its schema. The call may reach exactly the named resources. */
  run(skill: string, names: readonly string[], values?: Arguments): Promise<Json>;
}

/** Returns a string that has the form of a handle. The test maps it to a resource. */
export function handleOf(name: string): string {
  const block = createHash("sha256").update(name).digest().subarray(0, 16);
  return `rh_${block.toString("base64url")}`;
}

/** @param fill - Fills the folder. */
export async function newAgent(
  fill: (path: string) => void,
  options: Pick<FolderOptions, "maxTextBytes"> = {},
): Promise<Agent> {
  const directory = temporaryFolder();
  const path = join(directory, "documents");
  fill(path);
  const folder = await openFolder(path, {
    ...options,
    onProblem(message) {
      throw new Error(message);
    },
  });
  const skills = documentSkills({ folder });
  const checks = await compileArgumentChecks(skills);
  return {
    path,
    folder,
    async run(id, names, values = {}) {
      const skill = skills.find((one) => one.id === id);
      expect(checks.get(id)?.(values)).toEqual([]);
      const resources = new Map<string, Resource>();
      for (const name of names) {
        const resource = await folder.get(name);
        if (resource !== undefined) resources.set(handleOf(name), resource);
      }
      const caller = { principal: "alice", invoker: "agent:test" };
      const signal = new AbortController().signal;
      const call = { arguments: values, resources, caller, principal: "alice", signal };
      return (await skill?.run(call)) ?? null;
    },
  };
}
