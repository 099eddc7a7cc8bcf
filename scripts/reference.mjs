// npm run reference: writes docs/reference/command.md from the help of the built command, and
// docs/reference/configuration.md from the schemas. A test compares both files with new ones.
import { spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));

/** Longest line, in characters, that fits the site's box for code in a window of 1280 pixels. */
const WIDTH = 68;

/**
 * Returns the help of one verb, as the command prints it at this width. Longer examples are folded.
 * @param {readonly string[]} verb - The words of the verb; empty for the help of the command itself.
 */
function helpOf(verb) {
  const main = join(root, "cli", "dist", "main.cjs");
  const result = spawnSync(process.execPath, [main, ...verb, "--help"], {
    encoding: "utf8",
    env: { PATH: process.env["PATH"], COLUMNS: `${WIDTH}`, NO_COLOR: "1", HOME: "/nonexistent" },
  });
  if (result.status !== 0) throw new Error(`proviso ${verb.join(" ")} --help: ${result.stderr}`);
  return result.stdout.trimEnd().replace(/^ {2}\$ .*$/gm, folded);
}

/**
 * Folds a command line before its options, redirections and pipes.
 * @param {string} command
 */
function folded(command) {
  const lines = [""];
  for (const part of command.split(/ (?=-|[<>|] ?|"\$\()/)) {
    const line = lines.at(-1) ?? "";
    if (line === "") lines[0] = part;
    else if (line.length + part.length + 3 <= WIDTH) lines[lines.length - 1] = `${line} ${part}`;
    else {
      lines[lines.length - 1] = `${line} \\`;
      lines.push(`      ${part}`);
    }
  }
  return lines.join("\n");
}

/**
 * Returns the verbs that a help text lists.
 * @param {string} help
 */
function verbsIn(help) {
  const [, list = ""] = /^Commands:\n((?: {2}.*\n?)+)/m.exec(help) ?? [];
  const names = [...list.matchAll(/^ {2}([a-z]+)/gm)].map(([, name = ""]) => name);
  return names.filter((name) => name !== "help");
}

/** Returns the text of docs/reference/command.md. */
export function commandPage() {
  const whole = helpOf([]);
  const parts = [
    "# The command",
    "`npm run reference` writes this page from the command's own help. [The command line](../guides/command-line.md) walks " +
      "through the verbs and their output. Every verb takes `--json`.",
    "```text",
    whole,
    "```",
  ];
  for (const verb of verbsIn(whole)) {
    const help = helpOf([verb]);
    parts.push(`## ${verb}`, "```text", help, "```");
    for (const below of verbsIn(help)) {
      parts.push(`### ${verb} ${below}`, "```text", helpOf([verb, below]), "```");
    }
  }
  return `${parts
    .join("\n\n")
    .replaceAll("```text\n\n", "```text\n")
    .replaceAll("\n\n```\n", "\n```\n")
    .replace(/\n\n```$/, "\n```")}\n`;
}

/** @typedef {{ [name: string]: any }} Schema */

/**
 * Describes the type of a value.
 * @param {Schema} schema
 * @param {Schema} definitions
 * @returns {string}
 */
function typeOf(schema, definitions) {
  if (schema["$ref"] !== undefined) {
    const name = schema["$ref"].replace(/^.*#\/\$defs\//, "");
    const found = definitions[name] ?? {};
    return found.properties === undefined && found.type !== undefined && found.type !== "array"
      ? typeOf(found, definitions)
      : `[${name}](#${name.toLowerCase()})`;
  }
  if (schema["const"] !== undefined) return `\`${JSON.stringify(schema["const"])}\``;
  if (schema["enum"] !== undefined) {
    return schema["enum"].map((/** @type {unknown} */ one) => `\`${one}\``).join(", ");
  }
  const choices = schema["oneOf"] ?? schema["anyOf"];
  if (schema["type"] === undefined && choices !== undefined) {
    return choices.map((/** @type {Schema} */ one) => typeOf(one, definitions)).join(", or ");
  }
  // An object that another definition describes, or a value of another type.
  const described = schema["then"]?.["$ref"] === undefined ? undefined : schema["then"];
  const types = [schema["type"] ?? "any"]
    .flat()
    .map((type) =>
      type === "object" && described !== undefined ? typeOf(described, definitions) : type,
    )
    .join(" or ");
  if (schema["type"] === "array" && schema["items"] !== undefined) {
    return `array of ${typeOf(schema["items"], definitions)}`;
  }
  const { minimum, maximum } = schema;
  if (minimum !== undefined && maximum !== undefined) return `${types}, ${minimum} to ${maximum}`;
  if (minimum !== undefined) return `${types}, at least ${minimum}`;
  return types;
}

/**
 * Returns a table row for each property of a schema, followed by the rows of the property's own properties.
 * @param {Schema} schema
 * @param {string} path
 * @param {Schema} definitions
 * @returns {string[]}
 */
function rowsOf(schema, path, definitions) {
  const required = new Set(schema["required"] ?? []);
  return Object.entries(schema["properties"] ?? {}).flatMap(([name, member]) => {
    if (name === "$schema") return [];
    const here = `${path}${name}`;
    const given =
      member.default === undefined || typeof member.default === "object"
        ? ""
        : `\`${member.default}\``;
    const text = cell(member.description ?? definitionOf(member, definitions)["description"] ?? "");
    const type = cell(typeOf(member, definitions));
    const row = `| \`${here}\`${required.has(name) ? " (required)" : ""} | ${type} | ${given} | ${text} |`;
    const inside = member.type === "array" ? { ...member.items } : member;
    const below = member.type === "array" ? `${here}[].` : `${here}.`;
    const entry = definitionOf(member.additionalProperties ?? {}, definitions);
    const entries = rowsOf(entry, `${here}.NAME.`, definitions);
    return [row, ...rowsOf(inside, below, definitions), ...entries];
  });
}

/**
 * Returns the definition that a schema refers to, or the schema itself.
 * @param {Schema} schema
 * @param {Schema} definitions
 * @returns {Schema}
 */
function definitionOf(schema, definitions) {
  const name = schema["$ref"]?.replace("#/$defs/", "");
  return name === undefined ? schema : (definitions[name] ?? {});
}

/** @param {string} text */
function cell(text) {
  return text.replaceAll("|", "\\|").replaceAll("\n", " ");
}

/** Returns the text of docs/reference/configuration.md. */
export function configurationPage() {
  const parts = [
    "# Configuration",
    "`npm run reference` writes this page from the schemas. The files are JSON without comments; `$schema` may name the " +
      "schema, so that an editor completes and checks the file. Paths are relative to the file. A property that the schema " +
      "does not have is refused when the file is read.",
  ];
  for (const [file, title] of [
    ["agent-config", "`proviso serve`"],
    ["session-config", "`proviso session serve`"],
    ["gate-config", "`proviso mcp gate`"],
  ]) {
    const path = join(root, "schemas", `${file}.schema.json`);
    const schema = JSON.parse(readFileSync(path, "utf8"));
    const definitions = schema["$defs"] ?? {};
    parts.push(
      `## ${title}`,
      `[${file}.schema.json](../../schemas/${file}.schema.json)`,
      table(schema, definitions),
    );
    for (const [name, definition] of Object.entries(definitions)) {
      if (!parts.join("").includes(`(#${name.toLowerCase()})`)) continue;
      const text = definition.description ?? `${typeOf({ ...definition }, definitions)}.`;
      parts.push(`### ${name}`, text);
      const described = definition.type === "array" ? definition.items : definition;
      if (described?.properties !== undefined) parts.push(table(described, definitions));
    }
  }
  return `${parts.join("\n\n")}\n`;
}

/**
 * @param {Schema} schema
 * @param {Schema} definitions
 */
function table(schema, definitions) {
  const head = "| property | type | default | meaning |\n| --- | --- | --- | --- |";
  return [head, ...rowsOf(schema, "", definitions)].join("\n");
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  writeFileSync(join(root, "docs/reference/command.md"), commandPage());
  writeFileSync(join(root, "docs/reference/configuration.md"), configurationPage());
}
