import { renameSync } from "node:fs";
import { CallOutcomes, type FailedCall } from "../../src/protocols/mcp/learn/call-outcomes.js";
import {
  type LearnedLimits,
  type LeftOut,
  learnLimits,
  type OpenArgument,
  type RecordedCall,
} from "../../src/protocols/mcp/learn/learned-limits.js";
import { readRecording } from "../../src/protocols/mcp/learn/recording.js";
import { putPrivateFile } from "../../src/storage/new-file.js";
import { errorCode, isErrno } from "../../src/system/error-code.js";
import type { Context } from "../context.js";
import { CliError, EXIT, environmentError } from "../exit.js";
import { type HomeChoice, homeFor } from "../home.js";
import { seenFromNow } from "../moment.js";
import { printable } from "../output.js";
import { restrictionsFrom } from "../restrictions.js";
import {
  configurationLines,
  type GateToken,
  gateCommand,
  hostConfiguration,
  ownCommand,
} from "./host-configuration.js";
import { areAsLearned, newName, sealed } from "./learned-files.js";
import { writeNewToken } from "./new-token.js";
import { requestText } from "./request-file.js";

export interface LearnOptions extends HomeChoice {
  readonly grant: string;
  readonly expires?: string;
  readonly allowBroad?: boolean;
  /** The name of the server, if the gate has several servers. */
  readonly server?: string;
}

/** The files for one server. The paths are absolute. */
export interface Places {
  /** The name of the server in a host's configuration. */
  readonly name: string;
  readonly recording: string;
  readonly token: string;
  readonly request: string;
}

/** The calls and errors in a recording. */
interface Seen {
  readonly calls: readonly RecordedCall[];
  /** Calls that failed, from which nothing is learned. */
  readonly failed: readonly FailedCall[];
  /** The number of messages that a gate would refuse with any token, for each reason. */
  readonly refused: ReadonlyMap<string, number>;
  /** The number of malformed lines in the file. */
  readonly unreadable: number;
}

/**
 * Learns from a recording, and writes the token and the request. If somebody has changed the request or the token,
 * keeps both and only writes a new request beside them.
 *
 * @param words - The words of the server's command; empty if it is unknown.
 * @throws CliError if the recording cannot be read, or if no recorded call can be allowed.
 */
export async function learnToken(
  context: Context,
  words: readonly string[],
  options: LearnOptions,
  places: Places,
): Promise<{ readonly document: object; readonly lines: readonly string[] }> {
  const seen = await readSeen(places.recording, options.server);
  const learned = learnLimits(seen.calls, { allowBroad: options.allowBroad });
  if (learned.hop === undefined) throw nothingLearned(places, learned, seen);
  const { grant, expires, server } = options;
  const found = {
    name: places.name,
    recording: places.recording,
    calls: Object.fromEntries(learned.calls),
    open: learned.open,
    leftOut: learned.leftOut,
    failed: failedCalls(seen),
    refused: Object.fromEntries(seen.refused),
  };
  const token: GateToken = { home: homeFor(context, options), file: places.token, grant };
  const request = (path: string): string =>
    requestOf(context, options, places, path, learned, seen, token);
  if (!areAsLearned(places.request, places.token)) {
    const path = newName(places.request);
    putRequest(path, sealed(request(path), ""));
    const document = { ...found, request: path, kept: [places.request, places.token] };
    const lines = [
      ...seenLines(places, learned, seen),
      `Left ${printable(places.request)} and ${printable(places.token)} alone: they are not as learn wrote them`,
      `Wrote ${printable(path)}: what a token for all that was seen would allow; its top has the command that writes it`,
    ];
    return { document, lines };
  }
  const lifetime = await restrictionsFrom({ expires });
  const written = await writeNewToken(
    context,
    { ...options, output: places.token },
    { grant, ...lifetime, ...learned.hop },
  );
  putRequest(places.request, sealed(request(places.request), `${written.minted.token}\n`));
  const { id, issued, expires: end, hop } = written.minted;
  // If the gate has several servers, this token is not the token of the gate, so no host configuration is shown yet.
  const isAlone = server === undefined;
  const configuration = isAlone
    ? hostConfiguration(context, words, options, places.name, token)
    : undefined;
  const document = {
    ...found,
    file: places.token,
    request: places.request,
    home: written.home.folder,
    id,
    grant,
    issued,
    expires: end,
    hop,
    configuration,
  };
  const lines = [
    ...seenLines(places, learned, seen),
    `Wrote ${printable(places.token)}: ${id} expires ${seenFromNow(end, Date.now())}`,
    `Wrote ${printable(places.request)}: what it allows, in words for you to edit`,
    ...(isAlone
      ? configurationLines(context, configuration, options, token)
      : [
          "Make one token of this request and those of the other servers:",
          printable(
            `  ${ownCommand(context).join(" ")} mcp token --home ${token.home.folder} --request ${places.request} --request OTHER`,
          ),
        ]),
  ];
  return { document, lines };
}

async function readSeen(recording: string, server: string | undefined): Promise<Seen> {
  const outcomes = new CallOutcomes();
  let unreadable = 0;
  let lines = 0;
  try {
    for await (const line of readRecording(recording)) {
      lines++;
      if (line === undefined) unreadable++;
      else outcomes.add(line);
    }
  } catch (error) {
    if (!isErrno(error)) throw error;
    const message = `could not read ${printable(recording)}: ${errorCode(error)}`;
    const hint = "proviso mcp learn -- COMMAND records a session; --recording names the file";
    throw environmentError("unreadable_file", message, hint);
  }
  if (lines === 0 || unreadable < lines) {
    const before = server === undefined ? "" : `${server}/`;
    const named = <C extends RecordedCall>(call: C): C => ({
      ...call,
      operation: `${before}${call.operation}`,
    });
    const { refused } = outcomes;
    return {
      calls: outcomes.calls.map(named),
      failed: outcomes.failed.map(named),
      refused,
      unreadable,
    };
  }
  const message = `${printable(recording)} is not a recording of a session`;
  throw environmentError("unreadable_file", message, "proviso mcp learn -- COMMAND makes one");
}

/** Returns the failed calls for the JSON document. */
function failedCalls({ failed }: Seen): readonly object[] {
  return failed.map(({ operation, arguments: given, reason }) => ({
    operation,
    arguments: given,
    reason,
  }));
}

function nothingLearned(places: Places, learned: LearnedLimits, seen: Seen): CliError {
  const [first] = learned.leftOut;
  const [failed] = seen.failed;
  const without =
    failed === undefined
      ? "there is no call in it"
      : `every call in it failed: ${printable(failed.operation)}: ${printable(failed.reason)}`;
  const why = first === undefined ? without : `nothing in it can be allowed: ${leftOutText(first)}`;
  return new CliError({
    code: "nothing_learned",
    message: `no token was made of ${printable(places.recording)}: ${why}`,
    exitCode: EXIT.environment,
    hint:
      first === undefined
        ? "use the server through its host, then end the session"
        : "--allow-broad allows it; or write limits of your own: proviso mcp token --help",
    details: {
      leftOut: learned.leftOut,
      failed: failedCalls(seen),
      refused: Object.fromEntries(seen.refused),
    },
  });
}

/** Returns the text of a request file. */
function requestOf(
  context: Context,
  options: LearnOptions,
  places: Places,
  path: string,
  learned: LearnedLimits,
  { failed }: Seen,
  token: GateToken,
): string {
  const { grant, expires } = options;
  const heading = [
    `What sessions used of the server "${places.name}", as recorded in ${places.recording}. Each line is an option of`,
    "proviso mcp token. Change them, and make a new token; a running gate takes it at once:",
    `  ${ownCommand(context).join(" ")} mcp token --home ${token.home.folder} --request ${path} --output ${places.token}`,
    ...(options.server === undefined
      ? [
          "The gate stands before the server's command, in the configuration of its host:",
          `  ${gateCommand(context, options, token).join(" ")} --`,
        ]
      : []),
  ].map(printable);
  return requestText(learned, failed, { grant, expires, heading });
}

function putRequest(path: string, text: string): void {
  try {
    putPrivateFile(path, text, renameSync);
  } catch (error) {
    if (!isErrno(error)) throw error;
    const message = `could not write ${printable(path)}: ${errorCode(error)}`;
    throw environmentError("output_failed", message, "check the folder, and its permissions");
  }
}

function seenLines(places: Places, { calls, open, leftOut }: LearnedLimits, seen: Seen): string[] {
  const refused = [...seen.refused].map(
    ([reason, count]) => `${timesText(count)}: ${printable(reason)}`,
  );
  return [
    `Learned from ${printable(places.recording)}, which has all that was sent; delete it when you no longer need it:`,
    ...[...calls].map(([operation, count]) => `  ${printable(operation)}, ${timesText(count)}`),
    ...indented("With any value:", open.map(openText)),
    ...indented("Seen, but not allowed:", leftOut.map(leftOutText)),
    ...indented("Calls that failed, from which nothing is learned:", failedLines(seen.failed)),
    ...indented("Seen, but refused by a gate, whatever the token:", refused),
    ...(seen.unreadable === 0
      ? []
      : [`Passed over lines that are not of a recording: ${seen.unreadable}`]),
  ];
}

function openText({ operation, argument, isElements }: OpenArgument): string {
  return printable(`${operation}, ${isElements ? "elements of " : ""}argument ${argument}`);
}

function leftOutText({ operation, argument, reason }: LeftOut): string {
  const subject = argument === undefined ? operation : `${operation}, argument ${argument}`;
  return printable(`${subject}: ${reason}`);
}

function failedLines(failed: readonly FailedCall[]): readonly string[] {
  const counts = new Map<string, number>();
  for (const { operation } of failed) counts.set(operation, (counts.get(operation) ?? 0) + 1);
  return [...counts].map(([operation, count]) => `${printable(operation)}, ${timesText(count)}`);
}

function indented(heading: string, lines: readonly string[]): readonly string[] {
  return lines.length === 0 ? [] : [heading, ...lines.map((line) => `  ${line}`)];
}

function timesText(count: number): string {
  return count === 1 ? "once" : `${count} times`;
}
