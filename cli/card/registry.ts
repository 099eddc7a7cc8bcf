import type { Command } from "commander";
import { duplicateKey, type Json, quotedName } from "../../src/bytes/json.js";
import {
  assertRegistry,
  CAPABILITY_REGISTRY,
  type CapabilityRegistry,
  type CapabilityTier,
  tierAt,
} from "../../src/discovery/registry.js";
import { checkRegistry, checkStability } from "../../src/discovery/stability.js";
import { parseVersion } from "../../src/discovery/versions.js";
import type { Context } from "../context.js";
import { CliError, EXIT } from "../exit.js";
import {
  type Paint,
  printAnswer,
  printable,
  type Row,
  renderRows,
  stdoutPaint,
} from "../output.js";
import { act, addExamples, type GlobalOptions, toText } from "../verb.js";
import { fileText, STDIN } from "./text.js";

interface Options extends GlobalOptions {
  readonly previous?: string;
}

export function defineRegistry(card: Command, context: Context): void {
  const command = card
    .command("registry")
    .description(
      "Shows the registry of capabilities: what --require of discover may name, and what it " +
        "means. With a file, checks that registry by the rules of stability; with --previous, also " +
        "that it follows that one. Exit code 1 if it breaks a rule.",
    )
    .argument(
      "[registry]",
      "a file with a registry as JSON, or - for standard input; that of this program unless given",
    )
    .option("--previous <file>", "the registry that it follows", toText);
  command.action(act(context, run));
  addExamples(command, [
    "proviso card registry",
    "proviso card registry --json > registry.json",
    "proviso card registry next.json --previous registry.json",
  ]);
}

function run(context: Context, options: Options, file: string | undefined): void {
  const { previous } = options;
  const paint = stdoutPaint(context);
  if (file === undefined && previous === undefined) {
    printAnswer(context, options, CAPABILITY_REGISTRY, render(CAPABILITY_REGISTRY, paint));
    return;
  }
  const registry = file === undefined ? CAPABILITY_REGISTRY : registryIn(context, file);
  const problems =
    previous === undefined
      ? checkRegistry(registry)
      : checkStability(registryIn(context, previous), registry);
  const name = printable(file === "-" ? STDIN : (file ?? "the registry of this program"));
  if (problems.length > 0) context.exitCode = EXIT.refused;
  const lines =
    problems.length === 0
      ? [paint.green(`${name}: keeps every rule of stability`)]
      : problems.map(
          ({ rule, message }) => `${name}: ${paint.red(`rule ${rule}`)}: ${printable(message)}`,
        );
  printAnswer(context, options, { valid: problems.length === 0, problems }, lines);
}

/**
 * Reads a registry from a file.
 *
 * @throws CliError if the file cannot be read or contains no registry.
 */
export function registryIn(context: Context, file: string): CapabilityRegistry {
  const { name, text } = fileText(context, file, "name a file with a registry as JSON");
  const malformed = (what: string): CliError => {
    const hint = "proviso card registry --json shows the form";
    const message = `${name}: ${what}`;
    return new CliError({ code: "registry_malformed", message, exitCode: EXIT.malformed, hint });
  };
  let value: Json;
  try {
    value = JSON.parse(text);
  } catch {
    throw malformed("this is not JSON");
  }
  const twice = duplicateKey(text);
  if (twice !== undefined) throw malformed(`it has the property ${quotedName(twice.key)} twice`);
  try {
    assertRegistry(value);
    return value;
  } catch (error) {
    if (error instanceof TypeError) throw malformed(error.message);
    throw error;
  }
}

const TIERS: readonly (readonly [tier: CapabilityTier, title: string])[] = [
  ["implicit", "implicit: every agent has it, and no card declares it"],
  ["declared", "declared: an agent has it if its card says so"],
  ["deprecated", "deprecated: it works, and another one supersedes it"],
  ["removed", "removed"],
];

function render(registry: CapabilityRegistry, paint: Paint): string[] {
  const version = parseVersion(registry.version) ?? { major: 1, minor: 0 };
  const lines = [`Capabilities of A2A ${registry.version}`];
  for (const [tier, title] of TIERS) {
    const rows = registry.capabilities
      .filter((entry) => tierAt(entry, version) === tier)
      .map(({ name, description = "", supersededBy, propagates }): Row => {
        const instead = supersededBy === undefined ? "" : `; use ${supersededBy}`;
        const far = propagates === true ? "; holds only as far as every delegate has it" : "";
        return [name, `${description}${far}${instead}`];
      });
    if (rows.length > 0) lines.push("", paint.bold(title), ...renderRows(rows, paint, "  "));
  }
  return lines;
}
