import { basename, join } from "node:path";
import type { Command } from "commander";
import { type RecordedSession, recordSession } from "../../src/protocols/mcp/learn/recorder.js";
import { type RecordedLine, RecordingFile } from "../../src/protocols/mcp/learn/recording.js";
import { startFailure } from "../../src/protocols/mcp/server/stdio-server.js";
import { errorCode, reasonFor } from "../../src/system/error-code.js";
import { isOwnVariable, withoutOwnVariables } from "../../src/system/own-variables.js";
import { absolutePath, type Context } from "../context.js";
import { environmentError, usageError } from "../exit.js";
import { addDatabase, homeFor } from "../home.js";
import { escapedJson, printAnswer, printable, say } from "../output.js";
import { assertNoFolder, assertWritable } from "../private-file.js";
import { restrictionsFrom } from "../restrictions.js";
import { addExamples, toText } from "../verb.js";
import { assertServerName } from "./gate-names.js";
import { type LearnOptions, learnToken, type Places } from "./learned-token.js";
import { GATE_GRANT, makeHome, mintForGate } from "./new-token.js";

interface Options extends LearnOptions {
  readonly name?: string;
  readonly recording?: string;
  readonly output?: string;
  readonly request?: string;
}

/** Adds `proviso mcp learn`. */
export function defineLearn(mcp: Command, context: Context): void {
  const command = mcp
    .command("learn")
    .description(
      "Finds out what a host uses of a server. Put it before the server's command in the host's " +
        "configuration and use the server: every byte is passed on unchanged, and recorded. When the " +
        "session ends, it writes a token that allows what was seen, and the request for it in words, " +
        "for you to edit. Makes a home if there is none. Without a command, it reads a recording.",
    )
    .argument("[command...]", "the server's command, behind --")
    .option(
      "--name <name>",
      "the server's name, for the files below; from its command unless given",
      toText,
    )
    .option(
      "--recording <file>",
      "the recording, which is continued if it exists; NAME.recording in the home unless given",
      toText,
    )
    .option(
      "-o, --output <file>",
      "the file for the token; NAME.token in the home unless given",
      toText,
    )
    .option(
      "--request <file>",
      "the file for the request; NAME.request in the home unless given",
      toText,
    )
    .option(
      "--server <name>",
      "the server's name, behind a gate that has several: operations are then NAME/TOOL",
      toText,
    )
    .option("--grant <grant>", "the grant of the gate", toText, GATE_GRANT)
    .option(
      "--expires <time>",
      "when the token expires: a time, or a duration from now; 30d, or what the home allows",
      toText,
    )
    .option(
      "--allow-broad",
      "allow / and folders such as /home, and paths and URLs without a limit, where nothing narrower has all that was seen",
    )
    .action((words: readonly string[], _options: object, self: Command) =>
      run(context, words, self.optsWithGlobals<Options>()),
    );
  addDatabase(command);
  addExamples(command, [
    "proviso mcp learn --name files -- npx -y @modelcontextprotocol/server-filesystem /data",
    "proviso mcp learn --recording ./files.recording --output ./files.token",
  ]);
}

async function run(context: Context, words: readonly string[], options: Options): Promise<void> {
  assertServerName("--server", options.server);
  const home = homeFor(context, options);
  const places = placesOf(context, words, options, home.folder);
  const [program, ...args] = words;
  if (program === undefined) {
    const { document, lines } = await learnToken(context, words, options, places);
    printAnswer(context, options, document, lines);
    return;
  }
  const stop = context.untilStopped();
  const lifetime = await restrictionsFrom({ expires: options.expires });
  const madeHome = await makeHome(home);
  if (madeHome) say(context, `Made a home at ${printable(home.folder)}`);
  // Check the options and the output files before the session: after it, a mistake would be noticed too late.
  await mintForGate(context, options, { grant: options.grant, anyOperation: true, ...lifetime });
  assertWritable(places.token);
  assertWritable(places.request);
  const session = await record(context, program, args, places.recording, stop);
  say(context, `Recording in ${printable(places.recording)}; end the session to learn from it`);
  if (context.stdin.isTerminal) {
    say(
      context,
      "note: standard input is a terminal; a host starts this in the place of the server",
    );
  }
  await session.over;
  // Learns while the session closes, because a host that has ended the session may soon end this process.
  const [{ document, lines }] = await Promise.all([
    learnToken(context, words, options, places),
    session.close(),
  ]);
  // Standard output carries the messages of the session, so the answer goes to standard error.
  for (const line of options.json === true ? [escapedJson({ ...document, madeHome })] : lines)
    say(context, line);
}

function placesOf(
  context: Context,
  words: readonly string[],
  { name, recording, output, request }: Options,
  folder: string,
): Places {
  const named =
    name ?? (recording === undefined ? nameOf(words) : basename(recording).replace(/\.[^.]*$/, ""));
  if (!/^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/.test(named)) {
    const hint = "letters, digits, - and _, such as files";
    throw usageError(`--name ${escapedJson(named)} cannot be the name of a file`, hint);
  }
  const at = (given: string | undefined, end: string): string => {
    const path =
      given === undefined ? join(folder, `${named}.${end}`) : absolutePath(context, given);
    assertNoFolder(path);
    return path;
  };
  return {
    name: named,
    recording: at(recording, "recording"),
    token: at(output, "token"),
    request: at(request, "request"),
  };
}

const LAUNCHERS = [
  "npx",
  "bunx",
  "uvx",
  "pipx",
  "run",
  "exec",
  "node",
  "bun",
  "deno",
  "python",
  "python3",
  "docker",
];

/**
 * Derives a short name from a server's command: `filesystem` from `npx -y @modelcontextprotocol/server-filesystem
 * /data`.
 */
function nameOf(words: readonly string[]): string {
  const word =
    words
      .map((one) => basename(one))
      .find((one) => !one.startsWith("-") && !LAUNCHERS.includes(one)) ?? "";
  const name = word
    .replace(/@.*$/, "")
    .replace(/\.[a-z]+$/, "")
    .replace(/^(?:mcp-server-|server-|mcp-)|(?:-mcp-server|-mcp|-server)$/g, "");
  return /^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$/.test(name) && name !== "index" ? name : "mcp";
}

/** Starts the server, and records its session with the host. */
async function record(
  context: Context,
  command: string,
  args: readonly string[],
  path: string,
  stop: AbortSignal,
): Promise<RecordedSession> {
  const file = openRecording(path);
  try {
    return await recordSession({
      command,
      args,
      env: withoutOwnVariables(context.env),
      host: context.stdio(),
      record: appendTo(context, file),
      secrets: ownSecrets(context),
      stop,
    });
  } catch (error) {
    file.close();
    const failed = startFailure({ name: undefined, command, cwd: undefined }, errorCode(error));
    throw environmentError("server_unavailable", printable(failed), "check the command behind --");
  }
}

/** Returns a function that appends lines to a recording. After a failed write, it ignores further lines. */
function appendTo(context: Context, file: RecordingFile): (line: RecordedLine) => void {
  let hasFailed = false;
  return (line) => {
    if (hasFailed) return;
    try {
      file.append(line);
    } catch (error) {
      hasFailed = true;
      say(context, `the recording cannot be continued: ${reasonFor(errorCode(error), "write")}`);
    }
  };
}

/** Returns the values of the `PROVISO_*` variables except `PROVISO_HOME`. They may be tokens and keys. */
function ownSecrets({ env }: Context): readonly string[] {
  return Object.entries(env).flatMap(([name, value = ""]) =>
    isOwnVariable(name) && name !== "PROVISO_HOME" && value !== "" ? [value] : [],
  );
}

function openRecording(path: string): RecordingFile {
  try {
    return new RecordingFile(path);
  } catch (error) {
    const message = `could not write ${printable(path)}: ${reasonFor(errorCode(error), "write")}`;
    throw environmentError("output_failed", message, "check the folder, and its permissions");
  }
}
