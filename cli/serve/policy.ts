import { statSync } from "node:fs";
import { resolve } from "node:path";
import type { Permission, Policy } from "../../src/agent/policy.js";
import { type PolicyDefinition, PolicyTable } from "../../src/agent/policy-table.js";
import { operationsIn } from "../../src/caveats/operation-entries.js";
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
  /** The separate policy file as read; absent if the policy is in the configuration. */
  readonly source?: { readonly file: string; readonly text: string };
}

/** Milliseconds between two checks of the policy file. */
const INTERVAL = 200;
/**
 * If the last change of a file is at least this many milliseconds old, every further change gives the file a
 * different timestamp.
 */
const SETTLED = 2000;

/**
 * Reads the policy from the configuration, or from the file that the configuration names.
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

// The library's message begins with "policy.", but a separate file has no field of that name.
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

/** Removes properties that only editors use, such as `$schema`. */
function withoutSchema({ groups, rules }: PolicyDefinition): PolicyDefinition {
  return groups === undefined ? { rules } : { groups, rules };
}

/** Returns a problem for each unknown grant or operation in the rules. Such a rule would allow nothing. */
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
    for (const operation of rule.operations === "*" ? operationsIn(rule) : []) {
      if (operations.includes(operation)) continue;
      const what = `limits arguments of the operation "${operation}", which no skill has${meant(operation, operations)}`;
      problems.push(problemAt(where, what));
    }
    return problems;
  });
}

/** A policy in force, and a function that stops the checks of its file. */
export interface PolicyInForce {
  readonly policy: Policy;
  readonly close: () => void;
}

/**
 * Returns the policy of a configuration. If it has a file of its own, the policy follows the file, and changes are
 * reported on standard error.
 */
export function keepInForce(
  context: Context,
  { table, source }: ReadPolicy,
  terms: PolicyTerms,
): PolicyInForce {
  if (source === undefined) return { policy: table, close: () => {} };
  const followed = new FollowedPolicy(table, source, terms, (message, ok) => {
    if (ok) say(context, printable(message));
    else warn(context, message);
  });
  return { policy: followed, close: () => followed.close() };
}

/**
 * The policy of a file. It checks the file for a change every {@link INTERVAL} milliseconds. It also checks the file
 * before it answers, if the last check is older than the interval: after a pause of the process, requests may arrive
 * before the timer fires. If the changed file is invalid, the previous policy stays in force.
 */
class FollowedPolicy implements Policy {
  readonly #table: PolicyTable;
  readonly #file: string;
  readonly #terms: PolicyTerms;
  readonly #report: (message: string, ok: boolean) => void;
  readonly #timer: NodeJS.Timeout;
  #inForce: string;
  #seen = "";
  #complaint = "";
  #told = "";
  #lookedAt = performance.now();
  #looking: Promise<void> | undefined;

  /**
   * @param report - Called once for each change, with a message for the operator. `ok` is false if the previous
   *   policy stays in force.
   */
  constructor(
    table: PolicyTable,
    { file, text }: NonNullable<ReadPolicy["source"]>,
    terms: PolicyTerms,
    report: (message: string, ok: boolean) => void,
  ) {
    this.#table = table;
    this.#file = file;
    this.#inForce = text;
    this.#terms = terms;
    this.#report = report;
    this.#timer = setInterval(() => this.#look(), INTERVAL);
    this.#timer.unref();
  }

  async permissions(principal: string, grant: string): Promise<readonly Permission[]> {
    const asked = performance.now();
    // A look that began before a pause may have read the file as it was before the pause.
    await this.#looking;
    if (asked - this.#lookedAt >= INTERVAL) this.#look();
    await this.#looking;
    return this.#table.permissions(principal, grant);
  }

  close(): void {
    clearInterval(this.#timer);
  }

  /** Starts to look for a change, unless a look is under way. Restarts the timer. */
  #look(): void {
    this.#timer.refresh();
    if (this.#looking !== undefined) return;
    this.#lookedAt = performance.now();
    this.#looking = this.#applyChange().finally(() => {
      this.#looking = undefined;
    });
  }

  async #applyChange(): Promise<void> {
    const { stamp, settled } = stateOf(this.#file);
    if (settled && stamp === this.#seen) return;
    try {
      const { definition, text } = await readPolicyFile(this.#file);
      if (text !== this.#inForce) {
        refuseConfig(this.#file, unknownTerms(definition, this.#terms, ""));
        this.#table.replace(definition);
        this.#report(`${this.#file}: the new policy is in force`, true);
      } else if (this.#told !== "") {
        this.#report(`${this.#file}: it is again the policy that is in force`, true);
      }
      this.#inForce = text;
      this.#seen = settled ? stamp : "";
      this.#complaint = "";
      this.#told = "";
    } catch (error) {
      const message = messageOf(error, this.#file);
      const problem = `${stamp} ${message}`;
      // An editor may not have finished writing. Only report a problem that persists, and report it only once.
      if (problem === this.#complaint && problem !== this.#told) {
        this.#report(`${message}; the policy stays as it was`, false);
        this.#told = problem;
      }
      this.#complaint = problem;
    }
  }
}

/** Returns a stamp of a file. `settled` is true if any further change of the file is certain to change the stamp. */
function stateOf(path: string): { readonly stamp: string; readonly settled: boolean } {
  try {
    const stat = statSync(path, { bigint: true });
    return { stamp: stampOf(stat), settled: Date.now() - Number(stat.ctimeMs) > SETTLED };
  } catch {
    // `#applyChange` reports the reason when it reads the file.
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
