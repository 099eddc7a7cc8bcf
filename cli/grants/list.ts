import { setTimeout as pause } from "node:timers/promises";
import type { Parties } from "../../src/agent/parties/parties.js";
import type { AgentGrant, Approval } from "../../src/agent/parties/records.js";
import type { Context } from "../context.js";
import { type Paint, printJson, printLine, stdoutPaint } from "../output.js";
import type { GlobalOptions } from "../verb.js";
import { approvalLine, grantLine } from "./words.js";

export interface ListChoice {
  readonly principal?: string;
  /**
   * True to list approvals and grants in every state; otherwise only pending or collectable approvals, and
   * active grants.
   */
  readonly all?: boolean;
}

export type Listed =
  | ({ readonly kind: "approval" } & Approval)
  | ({ readonly kind: "grant" } & AgentGrant);

/**
 * Returns the approvals and then the grants that the options select. In each group, the most recently changed object
 * comes last.
 */
export async function listed(
  parties: Parties,
  { principal, all = false }: ListChoice,
): Promise<readonly Listed[]> {
  const approvals = await everyOne((after) => parties.approvals.list(after));
  const grants = await everyOne((after) => parties.allGrants(after));
  const principals = new Map<string, string | undefined>();
  const isOf = async (grant: AgentGrant): Promise<boolean> => {
    if (principal === undefined) return true;
    if (!principals.has(grant.agent)) {
      const { principal: owner } = (await parties.agent(grant.agent)) ?? {};
      principals.set(grant.agent, owner ?? (await parties.host(grant.host))?.principal);
    }
    return principals.get(grant.agent) === principal;
  };
  const found: Listed[] = [];
  for (const approval of approvals) {
    const open = approval.state === "pending" || approval.state === "approved";
    const own = principal === undefined || concerns(approval, principal);
    if ((all || open) && own) found.push({ kind: "approval", ...approval });
  }
  for (const grant of grants) {
    const statusOf = grant.status === "active" || (all && grant.status !== "pending");
    if (statusOf && (await isOf(grant))) found.push({ kind: "grant", ...grant });
  }
  return found.sort((a, b) => rank(a) - rank(b) || a.updated - b.updated);
}

export function listedLine(one: Listed, paint: Paint, now: number): string {
  return one.kind === "approval" ? approvalLine(one, paint, now) : grantLine(one, paint, now);
}

/**
 * Returns a string that describes the state of a listed object. When the string changes, `--watch` prints the
 * object again.
 */
function standing(one: Listed): string {
  return one.kind === "approval" ? `${one.state} ${one.decisions.length}` : one.status;
}

function concerns({ subject, rule, decisions }: Approval, principal: string): boolean {
  const named = [
    subject.principal,
    ...(rule.approvers ?? []),
    ...decisions.map((one) => one.approver),
  ];
  return named.includes(principal);
}

function rank({ kind }: Listed): number {
  return kind === "approval" ? 0 : 1;
}

async function everyOne<One extends { readonly id: string }>(
  page: (after: { readonly after?: string }) => Promise<readonly One[]>,
): Promise<readonly One[]> {
  const all: One[] = [];
  for (;;) {
    const last = all.at(-1);
    const more = await page(last === undefined ? {} : { after: last.id });
    all.push(...more);
    if (more.length === 0) return all;
  }
}

/** Milliseconds between two reads of the database, which the agent changes in another process. */
const INTERVAL = 1000;

/** Prints the list. Then prints each approval and grant that is added or changes, until the command is stopped. */
export async function watch(
  context: Context,
  parties: Parties,
  options: GlobalOptions & ListChoice,
): Promise<void> {
  const signal = context.untilStopped();
  const paint = stdoutPaint(context);
  const known = new Map<string, string>();
  while (!signal.aborted) {
    // If an object was shown, it is printed once more when it ends.
    const all = await listed(parties, { ...options, all: true });
    const open = await idsOf(parties, options);
    for (const one of all) {
      const stands = standing(one);
      const before = known.get(one.id);
      if (before === stands || (before === undefined && !open.has(one.id))) continue;
      known.set(one.id, stands);
      if (options.json === true) printJson(context, one);
      else printLine(context, listedLine(one, paint, Date.now()));
    }
    await pause(INTERVAL, undefined, { signal }).catch(() => {});
  }
}

async function idsOf(parties: Parties, options: ListChoice): Promise<ReadonlySet<string>> {
  return new Set((await listed(parties, options)).map(({ id }) => id));
}
