import type { Command } from "commander";
import type { Decision, VerifiedCapability } from "../../src/capability/authorize.js";
import type { Invocation } from "../../src/caveats/invocation.js";
import { formatTime } from "../../src/caveats/time.js";
import { createIssuer } from "../../src/issuer/issuer.js";
import { createRevocationList } from "../../src/revocation/list.js";
import { readKeyringFile } from "../../src/stores/keyring-file.js";
import { readArguments } from "../argument-expression.js";
import { absolutePath, type Context } from "../context.js";
import { EXIT, usageError } from "../exit.js";
import { addDatabase, type Checker, type HomeChoice, withChecker } from "../home.js";
import { momentFrom, seenFromNow } from "../moment.js";
import {
  type Paint,
  printAnswer,
  printable,
  type Row,
  renderRows,
  stdoutPaint,
} from "../output.js";
import { adviceForDenial, exitForDenial, refusalLines } from "../refusal.js";
import { assertServiceKeys } from "../service-keys.js";
import { readTokenArgument, TOKEN_HELP } from "../token-argument.js";
import { act, addExamples, collect, toText } from "../verb.js";

interface Options extends HomeChoice {
  readonly op: string;
  readonly grant?: readonly string[];
  readonly resource?: readonly string[];
  readonly arg?: readonly string[];
  readonly invoker?: string;
  readonly audience?: string;
  readonly at?: string;
  readonly keys?: string;
  readonly issuer?: string;
}

export function define(program: Command, context: Context): void {
  const command = program
    .command("verify")
    .summary("check a token against an invocation")
    .description(
      "Checks a token of this home against an invocation: form, signatures, revocation, grant, and " +
        "every rule of every hop. Says allowed, or refused with every reason. Hand over a token that " +
        "another party sent on standard input: a shell takes a word that starts with - or @ for " +
        "an option or a file.",
    )
    .argument("[token]", TOKEN_HELP)
    .requiredOption("--op <operation>", "the operation that is asked for", toOperation)
    .option(
      "--grant <grant>",
      "the grant under which the service acts; repeat where it acts under several. May be left " +
        "out where the home lists its grants and one alone has the operation",
      collect,
    )
    .option("--resource <handle>", "a resource that the call names; repeat for more", collect)
    .option(
      "--arg <name=value>",
      "an argument of the call: JSON if it is JSON, else a string; repeat for more",
      collect,
    )
    .option("--invoker <agent>", "the authenticated agent that makes the call", toText)
    .option("--audience <service>", "the service that checks", toText)
    .option(
      "--at <when>",
      "judge expiry by this moment instead of now: a time or a duration",
      toText,
    )
    .option(
      "--keys <file>",
      "a service's keys, as keys service gives them, in the place of a home; the audience is that " +
        "service then, and no revocation list is looked into",
      toText,
    )
    .option(
      "--issuer <name>",
      "with --keys: the name of the issuer, as proviso inspect shows it",
      toText,
    )
    .action(act(context, run));
  addDatabase(command);
  addExamples(command, [
    "proviso verify @token --grant documents:read --op retrieve",
    "proviso verify --grant documents:read --op retrieve --resource rh_1 --arg amount=500 --arg to=acc_456 < token",
    "proviso verify @token --grant documents:read --op retrieve --at 5m --json",
    "proviso verify @documents.token --keys documents.jwks --issuer documents-agent --grant documents:read --op retrieve",
    'proviso verify @token --grant documents:read --op delete || echo "refused, exit code $?"',
  ]);
}

async function run(context: Context, options: Options, argument?: string): Promise<void> {
  const invocation = invocationFrom(options);
  const token = readTokenArgument(context, argument);
  const alone = serviceIssuer(context, options);
  const decision =
    alone === undefined
      ? await withChecker(context, options, (home) => authorize(token, invocation, home))
      : authorize(token, invocation, alone);
  const exitCode = decision.allowed ? EXIT.done : exitForDenial(decision.denials[0].code);
  context.exitCode = exitCode;
  // A result for another time than the present says nothing about the present, so the output names the time.
  const at = invocation.time === undefined ? undefined : formatTime(invocation.time.getTime());
  const unlisted = alone === undefined ? {} : { revocationChecked: false };
  const document = { ...documentFrom(decision, exitCode), at, ...unlisted };
  const lines = render(decision, stdoutPaint(context));
  if (at !== undefined) lines.push(`  judged as of ${at}, not of now`);
  if (alone !== undefined) lines.push("  no revocation list was looked into");
  printAnswer(context, options, document, lines);
}

/** Returns an issuer with the keys of one service, from `--keys`. Such a service has no home. */
function serviceIssuer(
  context: Context,
  { keys: file, issuer: name }: Options,
): Checker | undefined {
  if (file === undefined && name === undefined) return undefined;
  if (file === undefined || name === undefined) {
    const missing = file === undefined ? "--keys" : "--issuer";
    throw usageError(`${missing} is missing: --keys and --issuer belong together`);
  }
  const keys = readKeyringFile(absolutePath(context, file));
  const audience = assertServiceKeys(file, keys);
  const revocations = createRevocationList();
  const issuer = createIssuer({ name, keys, revocations, audience });
  return { issuer, files: { config: "the home" } };
}

function authorize(token: string, invocation: Invocation, { issuer, files }: Checker): Decision {
  if (invocation.grant === undefined && issuer.grants === undefined) {
    throw usageError(
      "--grant is missing, and this home does not list its grants",
      `name the grant that the service acts under; a list of the grants goes into "grants" in ${files.config}`,
    );
  }
  try {
    return issuer.authorize(token, invocation);
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    const aboutOperation = error.message.replace(/^invocation\.operation:/, "--op:");
    if (aboutOperation !== error.message) throw usageError(aboutOperation);
    const message = error.message.replace(/^invocation\.grant must say/, "--grant must say");
    throw usageError(message, "--grant names the grant that the service acts under");
  }
}

function toOperation(value: string, known: string | undefined): string {
  if (known === undefined) return toText(value);
  throw usageError("--op is given twice; one operation per check", "check each one by itself");
}

function invocationFrom(options: Options): Invocation {
  const { op, grant, resource, arg = [], invoker, audience, at } = options;
  return {
    grant,
    operation: op,
    resourceHandles: resource,
    invoker,
    audience,
    arguments: readArguments(arg),
    time: at === undefined ? undefined : momentFrom("--at", at, Date.now()),
  };
}

function documentFrom(decision: Decision, exitCode: number): object {
  if (decision.allowed) return { ...decision, exitCode };
  const hinted = decision.denials.map((denial) => ({ ...denial, hint: adviceForDenial(denial) }));
  return { ...decision, denials: hinted, exitCode };
}

function render(decision: Decision, paint: Paint): string[] {
  if (decision.allowed) {
    return [
      paint.green("allowed"),
      ...renderRows(capabilityRows(decision.capability), paint, "  "),
    ];
  }
  const { denials, capability } = decision;
  const lines = refusalLines(denials, adviceForDenial, paint);
  if (capability !== undefined) {
    const { id, grant, principal } = capability;
    const owner = principal === undefined ? "" : ` for ${principal}`;
    lines.push(paint.dim(printable(`  capability ${id}, ${grant}${owner}`)));
  }
  return lines;
}

function capabilityRows(capability: VerifiedCapability): Row[] {
  const { id, grant, principal, expires } = capability;
  return [
    ["capability", id],
    ["grant", printable(grant)],
    ...(principal === undefined ? [] : ([["principal", printable(principal)]] as const)),
    ["expires", `${seenFromNow(expires, Date.now())} (${expires})`],
  ];
}
