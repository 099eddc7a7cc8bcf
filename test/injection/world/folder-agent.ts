import {
  appendFileSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import type { Skill } from "../../../src/agent/skill.js";
import type { Grant } from "../../../src/issuer/grant.js";
import { openFolder } from "../../../src/sources/folder.js";
import type { ResourceFolder } from "../../../src/sources/resource-folder.js";
import {
  HANDLE,
  type Holdings,
  mark,
  objectSchema,
  ownerRules,
  placeOf,
  type Seed,
  type State,
} from "./holdings.js";
import type { Service } from "./people.js";
import { CODE, CODE_OWNERS, DOCUMENT_OWNERS, DOCUMENTS } from "./seeds.js";

const TEXT = { type: "string", maxLength: 20_000 };

/** Opens the documents agent: a folder of texts. */
export async function openDocuments(home: string): Promise<Holdings> {
  return openFolderAgent(home, "documents", "document", DOCUMENTS, DOCUMENT_OWNERS, []);
}

/** Opens the code agent: a folder of sources, and jobs that it records in a file. */
export async function openCode(home: string): Promise<Holdings> {
  const path = join(home, "code-jobs");
  writeFileSync(path, "");
  const runJob: Skill = {
    id: "run_job",
    name: "Run a job",
    description: "Runs a job for some minutes",
    operation: "run",
    reach: "none",
    input: objectSchema({ job: { type: "string" }, minutes: { type: "number" } }),
    run: async ({ arguments: { job, minutes }, principal }) => {
      appendFileSync(path, `${JSON.stringify({ job, minutes, principal })}\n`);
      return { started: true };
    },
  };
  const holdings = await openFolderAgent(home, "code", "file", CODE, CODE_OWNERS, [runJob]);
  const jobs = (): readonly string[] => readFileSync(path, "utf8").split("\n").slice(0, -1);
  return {
    ...holdings,
    state: () =>
      new Map([
        ...holdings.state(),
        ...jobs().map((line, at): [string, string] => [placeOf("code", "jobs", String(at)), line]),
      ]),
    restore: (state) => {
      holdings.restore(state);
      const lines = [...state].filter(([place]) => place.startsWith("code/jobs/"));
      writeFileSync(path, lines.map(([, line]) => `${line}\n`).join(""));
    },
  };
}

async function openFolderAgent(
  home: string,
  service: Service,
  noun: string,
  seeds: readonly Seed[],
  owners: { readonly [user: string]: readonly string[] },
  more: readonly Skill[],
): Promise<Holdings> {
  const root = join(home, service);
  for (const { collection, key, title, text } of seeds) {
    mkdirSync(join(root, collection), { recursive: true });
    const front = `---\ntitle: ${title}\n---\n`;
    const place = placeOf(service, collection, key);
    writeFileSync(join(root, collection, key), `${front}${text}\n${mark(place)}\n`);
  }
  const folder = await openFolder(root);
  const files = new Files();
  const collections = [...new Set(seeds.map(({ collection }) => collection))];
  return {
    source: folder,
    skills: [...folderSkills(folder, noun), ...more],
    grants: folderGrants(service, more),
    rules: ownerRules(owners),
    state: () => readFiles(root, service, collections, files),
    restore: (state) => {
      for (const collection of collections) {
        for (const key of readdirSync(join(root, collection))) {
          const place = placeOf(service, collection, key);
          if (!state.has(place)) rmSync(join(root, collection, key));
        }
      }
      const present = readFiles(root, service, collections, files);
      for (const [place, text] of state) {
        const [owner, collection = "", key = ""] = place.split("/");
        if (owner !== service || !collections.includes(collection)) continue;
        if (present.get(place) !== text) writeFileSync(join(root, collection, key), text);
      }
      files.forget();
    },
    close: () => {},
  };
}

/** A cache of file contents, which reads a file again if it was replaced or written. */
class Files {
  readonly #known = new Map<string, { readonly signature: string; readonly text: string }>();

  read(path: string): string {
    const { ino, size, ctimeMs } = statSync(path);
    const signature = `${ino} ${size} ${ctimeMs}`;
    const known = this.#known.get(path);
    if (known?.signature === signature) return known.text;
    const text = readFileSync(path, "utf8");
    this.#known.set(path, { signature, text });
    return text;
  }

  /** Empties the cache, because it cannot tell two writes within one tick of the clock apart. */
  forget(): void {
    this.#known.clear();
  }
}

function readFiles(
  root: string,
  service: Service,
  collections: readonly string[],
  files: Files,
): State {
  return new Map(
    collections.flatMap((collection) =>
      readdirSync(join(root, collection)).map((key): [string, string] => [
        placeOf(service, collection, key),
        files.read(join(root, collection, key)),
      ]),
    ),
  );
}

function folderGrants(service: Service, more: readonly Skill[]): readonly Grant[] {
  const also = more.map(({ operation }) => ({
    id: `${service}:${operation}`,
    description: `What is called ${operation}`,
    operations: [operation],
  }));
  return [
    { id: `${service}:read`, description: "Read and list", operations: ["read", "list"] },
    {
      id: `${service}:write`,
      description: "Create, update, delete",
      operations: ["create", "update", "delete"],
      requires: [`${service}:read`],
    },
    ...also,
    {
      id: `${service}:legacy`,
      description: "Everything, without limits to resources",
      operations: ["*"],
      attenuable: false,
      legacy: true,
    },
  ];
}

function folderSkills(folder: ResourceFolder, noun: string): readonly Skill[] {
  return [
    {
      id: `list_${noun}s`,
      name: "List",
      description: `Titles and handles of every ${noun} within reach`,
      operation: "list",
      reach: "scoped",
      input: objectSchema({}),
      run: async ({ resources }) =>
        [...resources].map(([handle, { displayName }]) => ({ handle, title: displayName })),
    },
    {
      id: `read_${noun}`,
      name: "Read",
      description: `The text of a ${noun}`,
      operation: "read",
      reach: "named",
      input: objectSchema({ resource: HANDLE }),
      run: async ({ arguments: given, resources }) => {
        const resource = resources.get(String(given["resource"]));
        return { text: await folder.readText(resource?.name ?? "") };
      },
    },
    {
      id: `create_${noun}`,
      name: "Create",
      description: `A new ${noun} in a collection`,
      operation: "create",
      reach: "named",
      target: "collection",
      input: objectSchema({ collection: HANDLE, name: { type: "string" }, text: TEXT }),
      run: async ({ arguments: given, resources }) => {
        const { collection = "" } = resources.get(String(given["collection"])) ?? {};
        await folder.create(collection, String(given["name"]), String(given["text"]));
        return { created: true };
      },
    },
    {
      id: `update_${noun}`,
      name: "Update",
      description: `Another text for a ${noun}`,
      operation: "update",
      reach: "named",
      input: objectSchema({ resource: HANDLE, text: TEXT }),
      run: async ({ arguments: given, resources }) => {
        const resource = resources.get(String(given["resource"]));
        await folder.writeText(resource?.name ?? "", String(given["text"]));
        return { updated: true };
      },
    },
    {
      id: `delete_${noun}`,
      name: "Delete",
      description: `Removes a ${noun}`,
      operation: "delete",
      reach: "named",
      input: objectSchema({ resource: HANDLE }),
      run: async ({ arguments: given, resources }) => {
        const resource = resources.get(String(given["resource"]));
        await folder.remove(resource?.name ?? "");
        return { deleted: true };
      },
    },
  ];
}
