import { createInterface } from "node:readline";
import { isJsonObject, type Json } from "../../src/bytes/json.js";
import { inspect } from "../../src/capability/inspect.js";
import { connectSession } from "../../src/protocols/a2e/client.js";
import type { Session } from "../../src/protocols/a2e/client-session.js";
import { CAPABILITY_NAMES, reservedReason } from "../../src/protocols/a2e/plugin.js";
import { SessionError } from "../../src/protocols/a2e/received.js";
import type { Context } from "../context.js";
import { asUsage, CliError, EXIT, type ExitCode, environmentError } from "../exit.js";
import { printAnswer, printable, printJson, printLine, say, stderrPaint } from "../output.js";
import { adviceForDenial, refusalLines } from "../refusal.js";
import { resultLines } from "../remote/result.js";
import { denialsOf, sessionFailure } from "./failure.js";
import { addressFrom, CALL_FORM, lineFrom, type SessionCall } from "./line.js";

export interface Connecting {
  readonly address: string;
  readonly agentId: string;
  readonly tokens: readonly string[];
  readonly ambient: boolean;
  /** The capabilities to request; by default, the capabilities of the tokens. */
  readonly capabilities?: readonly string[] | undefined;
  readonly json: boolean;
  /** True to receive answers in parts. */
  readonly stream: boolean;
  /** The only call to make; `undefined` to read calls from standard input. */
  readonly call?: SessionCall | undefined;
}

export async function connect(context: Context, connecting: Connecting): Promise<void> {
  const session = await begin(context, connecting);
  try {
    sayCapabilities(context, session);
    if (connecting.call === undefined) await makeCalls(context, session, connecting);
    else await makeCall(context, session, connecting, connecting.call);
  } finally {
    await session.close();
  }
}

async function begin(context: Context, connecting: Connecting): Promise<Session> {
  const { address, agentId, tokens, ambient } = connecting;
  const to = addressFrom(context, address);
  const { capabilities = capabilitiesOf(tokens) } = connecting;
  try {
    return await connectSession({
      to,
      agentId,
      capabilities,
      tokens,
      ambient,
      onUpdate: ({ ended, reason }) => {
        const what = ended.map(printable).join(", ");
        if (connecting.json) printJson(context, { ended, reason });
        else say(context, `note: ${what} ended: ${printable(reason)}`);
      },
    });
  } catch (error) {
    throw sessionFailure(error, address);
  }
}

/** Returns the capabilities that the tokens allow; without a token, every capability that is not reserved. */
function capabilitiesOf(tokens: readonly string[]): readonly string[] {
  if (tokens.length === 0)
    return CAPABILITY_NAMES.filter((name) => reservedReason(name) === undefined);
  const grants = tokens.map((token) => inspect(token).capability?.grant ?? "");
  const names = grants.filter((grant) => grant.startsWith("a2e:")).map((grant) => grant.slice(4));
  return [...new Set(names)];
}

function sayCapabilities(context: Context, session: Session): void {
  const all = [...session.capabilities];
  const enabled = all.filter(([, entry]) => entry.enabled).map(([name]) => printable(name));
  const paint = stderrPaint(context);
  if (context.stderr.isTerminal) {
    say(context, paint.dim(`session ${printable(session.id)}: ${enabled.join(", ")}`));
  }
  for (const [name, { enabled: isEnabled, reason = "" }] of all) {
    if (!isEnabled) say(context, `note: ${printable(name)} is not enabled: ${printable(reason)}`);
  }
}

async function makeCall(
  context: Context,
  session: Session,
  connecting: Connecting,
  call: SessionCall,
): Promise<void> {
  const { json, address } = connecting;
  try {
    const result = await ask(context, session, connecting, call);
    printAnswer(context, { json }, { result }, resultLines(result));
    markFailedTool(context, call, result);
  } catch (error) {
    const failure = sessionFailure(error, address);
    if (json || !(error instanceof SessionError) || denialsOf(error).length === 0) throw failure;
    context.exitCode = tell(context, error, failure);
  }
}

/** Makes the calls on standard input, one per line. Sets the exit code to that of the first call that failed. */
async function makeCalls(
  context: Context,
  session: Session,
  connecting: Connecting,
): Promise<void> {
  const stop = context.untilStopped();
  if (context.stdin.isTerminal) say(context, `one call in a line: ${CALL_FORM}; Ctrl-D ends`);
  const input = context.stdio();
  // A duplex that joins two streams emits an error if it is closed early.
  input.on("error", () => {});
  const lines = createInterface({ input, crlfDelay: Number.POSITIVE_INFINITY });
  const iterator = lines[Symbol.asyncIterator]();
  const stopped = new Promise<"stopped">((resolve) => {
    stop.addEventListener("abort", () => resolve("stopped"), { once: true });
  });
  const over = session.over.then((why) => ({ why }));
  try {
    for (;;) {
      const next = await Promise.race([iterator.next(), stopped, over]);
      if (next === "stopped") return;
      if ("why" in next) {
        if (next.why !== undefined) fail(context, connecting, next.why);
        return;
      }
      if (next.done === true) return;
      await makeLine(context, session, connecting, next.value, stop);
    }
  } finally {
    lines.close();
    input.destroy();
  }
}

async function makeLine(
  context: Context,
  session: Session,
  connecting: Connecting,
  line: string,
  stop: AbortSignal,
): Promise<void> {
  try {
    const call = lineFrom(line);
    if (call === undefined) return;
    const result = await ask(context, session, connecting, call, stop);
    if (connecting.json) printJson(context, { operation: call.operation, result });
    else printLine(context, resultLines(result).join("\n"));
    markFailedTool(context, call, result);
  } catch (error) {
    fail(context, connecting, stop.aborted && error === stop.reason ? cancelled() : error);
  }
}

/** Reports a failed MCP tool. MCP describes such a failure in the result of the call. */
function markFailedTool(context: Context, { operation }: SessionCall, result: Json): void {
  const isFailed = isJsonObject(result) && result["isError"] === true;
  if (operation !== "mcp/call" || !isFailed) return;
  if (context.exitCode === EXIT.done) context.exitCode = EXIT.environment;
  say(context, "the tool failed; its answer says why");
}

function cancelled(): CliError {
  const message = "stopped before the host answered; the call is cancelled";
  return environmentError("cancelled", message, "effects that the call has had until then remain");
}

async function ask(
  context: Context,
  session: Session,
  { json, stream }: Connecting,
  { operation, options }: SessionCall,
  signal?: AbortSignal,
): Promise<Json> {
  const onChunk = (chunk: Json): void => {
    if (json) printJson(context, { operation, chunk });
    else printLine(context, resultLines(chunk).join("\n"));
  };
  const call = (): Promise<Json> =>
    session.call(operation, {
      ...options,
      ...(stream ? { onChunk } : {}),
      signal,
    });
  try {
    return await call();
  } catch (error) {
    // The session throws a TypeError for an unknown operation.
    if (error instanceof TypeError)
      return asUsage(() => {
        throw error;
      }, CALL_FORM);
    throw error;
  }
}

/**
 * Prints the reason for which a line has failed. With --json, the reason goes to standard output, among the
 * answers.
 */
function fail(context: Context, { json, address }: Connecting, error: unknown): void {
  const failure = sessionFailure(error, address);
  if (!(failure instanceof CliError)) throw failure;
  const { code, message, hint, details, exitCode } = failure;
  if (context.exitCode === EXIT.done) context.exitCode = exitCode;
  if (json) printJson(context, { error: { code, message, hint, ...details } });
  else tell(context, error, failure);
}

/** Prints all reasons for which a call has failed, and returns the exit code. */
function tell(context: Context, error: unknown, failure: unknown): ExitCode {
  if (!(failure instanceof CliError)) throw failure;
  const denials = error instanceof SessionError ? denialsOf(error) : [];
  const paint = stderrPaint(context);
  const lines =
    denials.length > 0
      ? refusalLines(denials, adviceForDenial, paint)
      : [
          printable(failure.message),
          ...(failure.hint === undefined ? [] : [`hint: ${printable(failure.hint)}`]),
        ];
  for (const line of lines) say(context, line);
  return failure.exitCode;
}
