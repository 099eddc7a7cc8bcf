import { statSync } from "node:fs";
import { resolve } from "node:path";
import { type PolicyDefinition, PolicyTable } from "../../src/agent/policy-table.js";
import { meant } from "../../src/checks/members.js";
import { stampOf } from "../../src/system/file-stamp.js";
import type { Context } from "../context.js";
import { CliError } from "../exit.js";
import { printable, say } from "../output.js";
import type { AgentConfig } from "./agent-config.js";
import { fromConfig, problemAt, type ReadConfig, readPart, refuseConfig } from "./config.js";
import { warn } from "./log.js";
import type { ConfigProblem } from "./schema.js";

export interface PolicyTerms {
  readonly grants: readonly string[];
  readonly operations: readonly string[];
}

export interface ReadPolicy {
  readonly table: PolicyTable;
  readonly definition: PolicyDefinition;
  /** The file that it stands in, as it was read; absent for one in the configuration itself. */
  readonly source?: { readonly file: string; readonly text: string };
}

/** How often to look, in milliseconds. */
const INTERVAL = 200;
/** Milliseconds after which a further change of a file is sure to show in its times. */
const SETTLED = 2000;

/**
 * The policy of a configuration, or of the file that it names.
 *
 * @throws CliError `config_unreadable`, `config_malformed` or `config_invalid`.
 */
export async function readPolicy({
  config,
  file,
  folder,
}: Omit<ReadConfig, "config"> & {
  readonly config: Pick<AgentConfig, "policy">;
}): Promise<ReadPolicy> {
  const { policy } = config;
  if (typeof policy === "string") {
    const path = resolve(folder, policy);
    const { definition, text } = await readPolicyFile(path);
    const table = await tableFrom(path, definition, "");
    return { table, definition, source: { file: path, text } };
  }
  const definition = withoutSchema(policy);
  return { table: await tableFrom(file, definition, "policy."), definition };
}

// The library begins with "policy.", which a file of its own does not have.
function tableFrom(file: string, policy: PolicyDefinition, prefix: string): Promise<PolicyTable> {
  const placed = (words: string): string => words.replace(/^policy\./, prefix);
  return fromConfig(file, () => new PolicyTable(policy), placed);
}

async function readPolicyFile(
  path: string,
): Promise<{ readonly definition: PolicyDefinition; readonly text: string }> {
  const { value, text } = await readPart(path, "policy");
  return { definition: withoutSchema(value), text };
}

/** A policy without what it says for editors. */
function withoutSchema({ groups, rules }: PolicyDefinition): PolicyDefinition {
  return groups === undefined ? { rules } : { groups, rules };
}

/** Grants and operations that rules name and that there are not: such rules would allow nothing. */
export function unknownTerms(
  { rules }: PolicyDefinition,
  { grants, operations }: PolicyTerms,
  prefix: string,
): ConfigProblem[] {
  return rules.flatMap((rule, at) => {
    const where = `${prefix}rules[${at}]`;
    const problems: ConfigProblem[] = [];
    if (rule.grant !== "*" && !grants.includes(rule.grant)) {
      const what = `there is no grant "${rule.grant}"${meant(rule.grant, grants)}`;
      problems.push(problemAt(`${where}.grant`, what));
    }
    const named = rule.operations === "*" ? [] : rule.operations;
    for (const [place, operation] of named.entries()) {
      if (operations.includes(operation)) continue;
      const what = `no skill has the operation "${operation}"${meant(operation, operations)}`;
      problems.push(problemAt(`${where}.operations[${place}]`, what));
    }
    return problems;
  });
}

/**
 * Keeps a policy in force that stands in a file of its own, and says on standard error what becomes of it.
 *
 * @returns Ends it.
 */
export function keepInForce(
  context: Context,
  { table, source }: ReadPolicy,
  terms: PolicyTerms,
): () => void {
  if (source === undefined) return () => {};
  return followPolicy(table, source, terms, (message, ok) => {
    if (ok) say(context, printable(message));
    else warn(context, message);
  });
}

/**
 * Puts a policy file in force whenever it changes: within {@link INTERVAL} and the time it takes to read.
 * A file that is not right leaves the policy as it was.
 *
 * @param report - Takes what happened, for the operator, once for each change; `ok` is false where the
 *   old policy stays.
 * @returns Ends it.
 */
function followPolicy(
  table: PolicyTable,
  { file, text: first }: NonNullable<ReadPolicy["source"]>,
  terms: PolicyTerms,
  report: (message: string, ok: boolean) => void,
): () => void {
  let inForce = first;
  let seen = "";
  let complaint = "";
  let told = "";

  const look = async (): Promise<void> => {
    const { stamp, settled } = stateOf(file);
    if (settled && stamp === seen) return;
    try {
      const { definition, text } = await readPolicyFile(file);
      if (text !== inForce) {
        refuseConfig(file, unknownTerms(definition, terms, ""));
        table.replace(definition);
        report(`${file}: the new policy is in force`, true);
      } else if (told !== "") report(`${file}: it is again the policy that is in force`, true);
      inForce = text;
      [seen, complaint, told] = [settled ? stamp : "", "", ""];
    } catch (error) {
      const message = messageOf(error, file);
      const problem = `${stamp} ${message}`;
      // An editor may be in the middle of writing: only what lasts is reported, and once.
      if (problem === complaint && problem !== told) {
        report(`${message}; the policy stays as it was`, false);
        told = problem;
      }
      complaint = problem;
    }
  };
  let looking = false;
  const timer = setInterval(async () => {
    if (looking) return;
    looking = true;
    await look();
    looking = false;
  }, INTERVAL);
  timer.unref();
  return () => clearInterval(timer);
}

/** What changes with a file, and whether a further change is sure to show in it. */
function stateOf(path: string): { readonly stamp: string; readonly settled: boolean } {
  try {
    const stat = statSync(path, { bigint: true });
    return { stamp: stampOf(stat), settled: Date.now() - Number(stat.ctimeMs) > SETTLED };
  } catch {
    // Reading the file reports why.
    return { stamp: "", settled: false };
  }
}

function messageOf(error: unknown, file: string): string {
  if (!(error instanceof CliError))
    return `${file}: ${error instanceof Error ? error.message : ""}`;
  const { problems } = error.details;
  if (!Array.isArray(problems)) return error.message;
  const all = problems.map(({ message }: ConfigProblem) => message);
  return `${error.message}: ${all.join("; ")}`;
}
