// Fills the folder that the agent serves with copies. Clients can create, update and delete documents, which
// must not change this checkout.
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { writeFrontMatter } from "./front-matter.mjs";

/** @import { Scalar } from "./front-matter.mjs" */

const root = fileURLToPath(new URL("../..", import.meta.url));
const documents = fileURLToPath(new URL("documents", import.meta.url));

/** The kinds of this project's own documents. Every other file in `docs/` is a guide. */
const KINDS = new Map([
  ["README.md", "overview"],
  ["CHANGELOG.md", "changelog"],
  ["CONTRIBUTING.md", "guide"],
  ["SECURITY.md", "policy"],
  ["spec-vectors/README.md", "guide"],
  ["docs/spec.md", "specification"],
  ["docs/threat-model.md", "specification"],
]);

/** @type {typeof import("./library.mjs").fillLibrary} */
export function fillLibrary(folder) {
  const target = resolve(folder);
  if (!existsSync(target)) {
    mkdirSync(dirname(target), { recursive: true });
    // The folder appears with all its documents at once. A document that is missing later has thus been
    // deleted, and is not copied again.
    const temporary = mkdtempSync(join(dirname(target), `.${basename(target)}-`));
    try {
      cpSync(documents, temporary, { recursive: true });
      renameSync(temporary, target);
    } finally {
      rmSync(temporary, { recursive: true, force: true });
    }
  }
  const project = join(target, "project");
  mkdirSync(project, { recursive: true });
  for (const path of projectDocuments()) {
    const file = join(project, nameInProject(path));
    const text = projectDocument(path);
    if (existsSync(file) && readFileSync(file, "utf8") === text) continue;
    writeFileSync(`${file}.new`, text);
    renameSync(`${file}.new`, file);
  }
}

/** Returns the paths of this project's own documents, relative to its root. */
function projectDocuments() {
  const guides = readdirSync(join(root, "docs")).filter((name) => name.endsWith(".md"));
  return [...new Set([...KINDS.keys(), ...guides.map((name) => `docs/${name}`)])].sort();
}

/**
 * @param {string} path - `docs/spec.md` becomes `spec.md`; `spec-vectors/README.md` becomes
 *   `spec-vectors-readme.md`.
 */
function nameInProject(path) {
  return path
    .replace(/^docs\//, "")
    .replaceAll("/", "-")
    .toLowerCase();
}

/**
 * Adds front matter to a document. The title and the other fields come from the document itself.
 *
 * @param {string} path
 */
function projectDocument(path) {
  const text = readFileSync(join(root, path), "utf8");
  /** @type {{ [field: string]: Scalar }} */
  const fields = {
    title: /^# +(.+)$/m.exec(text)?.[1] ?? path,
    kind: KINDS.get(path) ?? "guide",
    path,
    language: "en",
    sections: (text.match(/^## /gm) ?? []).length,
    words: (text.match(/\S+/g) ?? []).length,
    confidential: false,
  };
  return `${writeFrontMatter(fields)}\n${text}`;
}
