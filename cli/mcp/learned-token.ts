import { CallOutcomes } from "../../src/protocols/mcp/learn/call-outcomes.js";
import {
  type LearnedHop,
  type LearnedLimits,
  learnLimits,
  type RecordedCall,
} from "../../src/protocols/mcp/learn/learned-limits.js";
import { readRecording } from "../../src/protocols/mcp/learn/recording.js";
import { errorCode, isErrno, reasonFor } from "../../src/system/error-code.js";
import type { Context } from "../context.js";
import { CliError, EXIT, environmentError } from "../exit.js";
import { type HomeChoice, homeFor } from "../home.js";
import { seenFromNow } from "../moment.js";
import { printable } from "../output.js";
import { putFile } from "../private-file.js";
import { restrictionsFrom } from "../restrictions.js";
import { shellLine } from "../storage-advice.js";
import {
  configurationLines,
  type GateToken,
  gateCommand,
  hostConfiguration,
  ownCommand,
  replacedLines,
} from "./host-configuration.js";
import { areAsLearned, newName, sealed } from "./learned-files.js";
import { leftOutText, type Seen, seenLines } from "./learned-words.js";
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

/** Limits that were learned from a recording, and the files and options for the token. */
interface Learning {
  readonly options: LearnOptions;
  readonly places: Places;
  readonly seen: Seen;
  readonly learned: LearnedLimits;
  readonly hop: LearnedHop;
  readonly token: GateToken;
}

/** The JSON document of an answer, and its lines for a person. */
interface Answer {
  readonly document: object;
  readonly lines: readonly string[];
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
): Promise<Answer> {
  const { recording } = places;
  const seen = await readSeen(recording, options.server);
  const learned = learnLimits(seen.calls, { allowBroad: options.allowBroad });
  const { hop } = learned;
  if (hop === undefined) throw nothingLearned(places, learned, seen);
  const { grant } = options;
  const home = homeFor(context, options);
  const token: GateToken = { home, file: places.token, grant, server: places.name };
  const learning: Learning = { options, places, seen, learned, hop, token };
  const written = areAsLearned(places.request, places.token)
    ? await writeBoth(context, words, learning)
    : await writeRequest(context, learning);
  const document = {
    name: places.name,
    recording,
    calls: Object.fromEntries(learned.calls),
    open: learned.open,
    leftOut: learned.leftOut,
    failed: failedCalls(seen),
    refused: Object.fromEntries(seen.refused),
    ...written.document,
  };
  return { document, lines: [...seenLines(recording, learned, seen), ...written.lines] };
}

/** Writes a new request beside a request or a token that somebody has changed. */
async function writeRequest(context: Context, learning: Learning): Promise<Answer> {
  const { request, token } = learning.places;
  const path = newName(request);
  await putFile(path, sealed(requestOf(context, learning, path), ""));
  return {
    document: { request: path, kept: [request, token] },
    lines: [
      `Left ${printable(request)} and ${printable(token)} alone: they are not as learn wrote them`,
      `Wrote ${printable(path)}: what a token for all that was seen would allow; its top has the command that writes it`,
    ],
  };
}

/** Writes the token and its request. */
async function writeBoth(
  context: Context,
  words: readonly string[],
  learning: Learning,
): Promise<Answer> {
  const { options, places, hop: limits, token } = learning;
  const { grant, expires, server } = options;
  const lifetime = await restrictionsFrom({ expires });
  const { minted, home, replaced } = await writeNewToken(
    context,
    { ...options, output: places.token },
    { grant, ...lifetime, ...limits },
  );
  const request = requestOf(context, learning, places.request);
  await putFile(places.request, sealed(request, `${minted.token}\n`));
  const { id, issued, expires: end, hop } = minted;
  const written = [
    `Wrote ${printable(places.token)}: ${id} expires ${seenFromNow(end, Date.now())}`,
    `Wrote ${printable(places.request)}: what it allows, in words for you to edit`,
    ...replacedLines(context, options, { home, replaced }),
  ];
  const made = { file: places.token, request: places.request, home: home.folder };
  const document = { ...made, id, grant, issued, expires: end, hop, replaced };
  // If the gate has several servers, this token is not the token of the gate, so no host configuration is shown yet.
  if (server !== undefined) {
    const command = [...tokenCommand(context, token), "--request", places.request];
    const advice = "Make one token of this request and those of the other servers:";
    const line = printable(`  ${shellLine(command)} --request OTHER`);
    return { document, lines: [...written, advice, line] };
  }
  const configuration = hostConfiguration(context, words, options, places.name, token);
  const lines = [...written, ...configurationLines(context, configuration, options, token)];
  return { document: { ...document, configuration }, lines };
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
    const message = `could not read ${printable(recording)}: ${reasonFor(errorCode(error), "read")}`;
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

/** Returns the words that make a token in a home, without the request. */
function tokenCommand(context: Context, { home }: GateToken): readonly string[] {
  return [...ownCommand(context), "mcp", "token", "--home", home.folder];
}

/** Returns the text of a request file. */
function requestOf(
  context: Context,
  { options, places, learned, seen, token }: Learning,
  path: string,
): string {
  const { grant, expires, server } = options;
  const heading = [
    `What sessions used of the server "${places.name}", as recorded in ${places.recording}. Each line is an option of`,
    "proviso mcp token. Change them, and make a new token; a running gate takes it at once:",
    `  ${shellLine([...tokenCommand(context, token), "--request", path, "--output", places.token])}`,
    ...(server === undefined
      ? [
          "The gate stands before the server's command, in the configuration of its host:",
          `  ${shellLine(gateCommand(context, options, token))} --`,
        ]
      : []),
  ].map(printable);
  return requestText(learned, seen.failed, { grant, expires, heading });
}
