import type { Command } from "commander";
import type { ApproverAnswer } from "../../src/agent/parties/approval-decisions.js";
import type { Approval } from "../../src/agent/parties/records.js";
import { type HopKey, REQUESTED_KEYS } from "../../src/caveats/hop-rules.js";
import type { Context } from "../context.js";
import { CliError, EXIT, usageError } from "../exit.js";
import type { EnrolOptions } from "../grants/enrolling.js";
import type { OpenParties } from "../grants/parties.js";
import { addDatabase, type HomeChoice } from "../home.js";
import { printAnswer, printable, stdoutPaint } from "../output.js";
import { addRestrictions, restrictionsFrom } from "../restrictions.js";
import { addOutput } from "../token-file.js";
import {
  act,
  addExamples,
  collect,
  DEFAULT_LIMIT,
  limitOption,
  listsAlone,
  sayMore,
  toText,
} from "../verb.js";

interface ListOptions extends HomeChoice {
  readonly principal?: string;
  readonly all?: boolean;
  readonly watch?: boolean;
  readonly limit?: number;
}

interface DecideOptions extends HomeChoice {
  readonly as?: string;
  readonly userCode?: string;
  readonly only?: readonly string[];
  readonly reason?: string;
}

interface RevokeOptions extends HomeChoice {
  readonly principal?: string;
}

// An approver cannot limit further hops, since the token does not exist yet.
const TIGHTENED: readonly HopKey[] = REQUESTED_KEYS.filter((key) => key !== "maxFurtherHops");

export function define(program: Command, context: Context): void {
  const grants = program
    .command("grants")
    .summary("what agents ask for and were granted, for the operator")
    .helpCommand(false)
    .description(
      "Shows, decides and revokes what agents request; each decision is made as one approver. Works on " +
        "the home's database while the agent runs; the ledger has every decision.",
    );
  listsAlone(grants, context, list);
  const listing = grants
    .command("list")
    .description(
      "Lists approvals that wait or can be collected, then grants in force: when each last changed, how " +
        "it stands, and who may do what.",
    )
    .option("--principal <user>", "only what concerns this user", toText)
    .option("--all", "what is over too: denied, expired, used, revoked")
    .option("--watch", "go on, with a line for each that is new or changes, until stopped")
    .addOption(limitOption())
    .action(act(context, list));
  const showing = grants
    .command("show")
    .description(
      "Shows an approval or a grant: who asks, for whom, why, for what, and what was decided.",
    )
    .argument("<id>", "an approval's or a grant's id, from proviso grants list, or a user code")
    .action(act(context, show));
  const approving = deciding(
    grants
      .command("approve")
      .description(
        "Approves a pending request, as one approver. No sign-in is asked for: a user of this system " +
          "who can write the home's database is the operator, and the ledger says that the operator " +
          "decided. Limits given here apply together with those of the request and of other approvers; if " +
          "nothing is left, the request is denied.",
      ),
  ).option(
    "--only <name>",
    "approve only this capability of the request; repeat for more",
    collect,
  );
  addRestrictions(approving, {
    keys: TIGHTENED,
    help: {
      expires:
        "until when the approved capabilities are valid: a time, or a duration from now such as 15m",
    },
  }).action(act(context, approve));
  const denying = deciding(
    grants.command("deny").description("Denies a pending request, as one approver."),
  )
    .option("--reason <text>", "why, for the one that asked", toText)
    .action(act(context, deny));
  const revoking = grants
    .command("revoke")
    .description(
      "Revokes a grant, an agent, a host, or what an approval granted, with every token of it; a " +
        "pending approval is cancelled. Revoking twice does no harm.",
    )
    .argument("[id]", "the id of a grant, an approval, an agent or a host")
    .option(
      "--principal <user>",
      "in place of an id: everything of this user, as when the user is deleted: tokens issued up to now, pending approvals, and hosts with their agents and grants",
      toText,
    )
    .action(act(context, revoke));
  const enrolling = grants
    .command("enrol")
    .alias("enroll")
    .description(
      "Makes a host for a user, and prints the token with which the host gives its key, once, within an " +
        "hour. Agents of the host get its defaults without an approval.",
    )
    .requiredOption("--principal <user>", "the user on whose behalf its agents act", toText)
    .option("--name <text>", "what the host is called", toText)
    .option("--default <capability>", "a capability without an approval; repeat for more", collect)
    .option("--tenant <name>", "the tenant; as the agent's configuration names it", toText)
    .action(act(context, enrol));
  addOutput(enrolling);
  for (const verb of [listing, showing, approving, denying, revoking, enrolling]) addDatabase(verb);
  examples(grants, { listing, showing, approving, denying, revoking, enrolling });
}

function deciding(command: Command): Command {
  return command
    .argument("<id>", "the approval's id, from proviso grants list")
    .option("--as <principal>", "whose decision it is; not needed where one alone decides", toText)
    .option(
      "--user-code <code>",
      "the code that the agent shows its user, where there is one",
      toText,
    );
}

const ID = "approval_5bWq0Yx3mNfQk2Zt8cVh1A";

function examples(grants: Command, verbs: { readonly [name: string]: Command }): void {
  const lines: { readonly [name: string]: readonly string[] } = {
    listing: ["proviso grants list", "proviso grants list --principal alice --watch"],
    showing: [`proviso grants show ${ID}`],
    approving: [
      `proviso grants approve ${ID} --as alice`,
      `proviso grants approve ${ID} --as alice --only transfer_funds --arg 'amount<=1000' --arg currency=USD --expires 1h`,
    ],
    denying: [`proviso grants deny ${ID} --as alice --reason 'not before Friday'`],
    revoking: [
      "proviso grants revoke grant_Jc0mNfQk2Zt8cVh1A5bWqw",
      "proviso grants revoke --principal user_7",
    ],
    enrolling: [
      "proviso grants enrol --principal alice --name 'Laptop of Alice' --default list_payments",
    ],
  };
  for (const [name, verb] of Object.entries(verbs)) addExamples(verb, lines[name] ?? []);
  addExamples(
    grants,
    Object.values(lines).flatMap(([first = ""]) => first),
  );
}

// Loaded on demand, so that help starts faster.
async function open<T>(
  context: Context,
  options: HomeChoice,
  use: (open: OpenParties) => Promise<T>,
): Promise<T> {
  const { withParties } = await import("../grants/parties.js");
  return withParties(context, options, use);
}

async function list(context: Context, options: ListOptions): Promise<void> {
  const { listed, listedLine } = await import("../grants/list.js");
  const { limit = DEFAULT_LIMIT } = options;
  await open(context, options, async ({ parties }) => {
    if (options.watch === true) {
      const { watch } = await import("../grants/list.js");
      return watch(context, parties, options);
    }
    const all = await listed(parties, options);
    const more = all.length > limit;
    const found = more ? all.slice(-limit) : all;
    if (more && options.json !== true) sayMore(context, limit);
    const paint = stdoutPaint(context);
    const now = Date.now();
    const lines = found.map((one) => listedLine(one, paint, now));
    const none = "Nothing waits, and nothing is granted.";
    printAnswer(context, options, { grants: found, more }, lines.length === 0 ? [none] : lines);
  });
}

async function show(context: Context, options: HomeChoice, id: string): Promise<void> {
  const { findApproval, findById } = await import("../grants/find-by-id.js");
  const { approvalLines, grantLines } = await import("../grants/words.js");
  await open(context, options, async ({ parties }) => {
    const paint = stdoutPaint(context);
    const now = Date.now();
    const code = /^[A-Za-z]{4}-?[A-Za-z]{4}$/.test(id);
    const found = code
      ? { kind: "approval" as const, approval: await findApproval(parties, id) }
      : await findById(parties, id);
    const [document, lines] =
      found.kind === "approval"
        ? [found.approval, approvalLines(found.approval, paint, now)]
        : [found.grant, grantLines(found.grant, paint, now)];
    printAnswer(context, options, { kind: found.kind, ...document }, lines);
  });
}

async function approve(context: Context, options: DecideOptions, id: string): Promise<void> {
  const hop = await restrictionsFrom(options, { moments: true });
  const { placesOf, hopsFor } = await import("../grants/deciding.js");
  await decide(context, options, id, (approval) => {
    const granted = placesOf(approval, options.only);
    return { answer: "approve", granted, hops: hopsFor(approval, granted, hop) };
  });
}

async function deny(context: Context, options: DecideOptions, id: string): Promise<void> {
  await decide(context, options, id, () => ({ answer: "deny", reason: options.reason }));
}

async function decide(
  context: Context,
  options: DecideOptions,
  id: string,
  answerTo: (approval: Approval) => Omit<ApproverAnswer, "digest">,
): Promise<void> {
  const { findApproval } = await import("../grants/find-by-id.js");
  const { approverFor, refusedDecision } = await import("../grants/deciding.js");
  const { approvalLines } = await import("../grants/words.js");
  const { causeWords } = await import("../../src/agent/parties/approval-results.js");
  await open(context, options, async ({ parties }) => {
    const approval = await findApproval(parties, id);
    const answer = { ...answerTo(approval), digest: approval.digest };
    const principal = approverFor(approval, options.as);
    const by = { principal, userCode: options.userCode, operator: true };
    const outcome = await parties.approvals.decide(approval.id, by, answer);
    if (!outcome.ok) throw refusedDecision(outcome.code, outcome.message);
    const { approval: decided } = outcome;
    const lines = approvalLines(decided, stdoutPaint(context), Date.now());
    printAnswer(context, options, { kind: "approval", ...decided }, lines);
    if (answer.answer === "approve" && decided.cause !== undefined) {
      const message = `it is ${decided.state}: ${causeWords(decided)}`;
      throw new CliError({ code: decided.cause, exitCode: EXIT.refused, message });
    }
    if (answer.answer === "approve" && decided.state === "denied") {
      throw new CliError({
        code: "nothing_left",
        exitCode: EXIT.refused,
        message: "it is denied: nothing is left of what was asked for",
        hint: "the limits of the request, the server and all approvers must have something in common; the agent can ask again",
      });
    }
  });
}

async function revoke(context: Context, options: RevokeOptions, id?: string): Promise<void> {
  const { revokeById, revokeUser } = await import("../grants/find-by-id.js");
  const { principal } = options;
  if ((id === undefined) === (principal === undefined)) {
    throw usageError("name one: the id of what is to be revoked, or --principal");
  }
  await open(context, options, async (opened) => {
    if (principal !== undefined) {
      const revoked = await revokeUser(opened, principal);
      return printAnswer(context, options, revoked, [
        printable(`revoked ${principal}: ${revoked.effect}`),
      ]);
    }
    if (id === undefined) return;
    const revoked = await revokeById(opened, id);
    const line = `${revoked.already ? "already revoked" : "revoked"} ${id}: ${revoked.effect}`;
    printAnswer(context, options, revoked, [printable(line)]);
  });
}

async function enrol(context: Context, options: EnrolOptions): Promise<void> {
  const { enrolHost } = await import("../grants/enrolling.js");
  await enrolHost(context, options);
}
