import { once } from "node:events";
import { type Command, Option } from "commander";
import { MAX_SESSION_TOKENS } from "../../src/protocols/a2e/messages.js";
import type { Context } from "../context.js";
import { usageError } from "../exit.js";
import { addDatabase, type HomeChoice } from "../home.js";
import { printAnswer, printable, say } from "../output.js";
import type { HostOptions } from "../session/host.js";
import { ADDRESS_FORM, addressFrom, callFrom, portFrom } from "../session/line.js";
import { assertPresentable, readTokensArgument } from "../token-argument.js";
import { addExamples, collect, flagsBefore, type GlobalOptions, toText } from "../verb.js";

interface ServeOptions extends HomeChoice {
  readonly listen?: string;
  readonly unix?: string;
  readonly stdio?: boolean;
}

interface ConnectOptions extends GlobalOptions {
  readonly token?: readonly string[];
  readonly ambient?: boolean;
  readonly caps?: string;
  readonly agentId: string;
  readonly call?: string;
  readonly stream?: boolean;
}

export function define(program: Command, context: Context): void {
  const session = program
    .command("session")
    .summary("serve an A2E session, or connect to one")
    .helpCommand(false)
    .description(
      "Sessions of A2E 1.0: a host enables what its plugins serve and a token allows, and judges " +
        "every message by the token.",
    );
  const serving = session
    .command("serve")
    .description(
      "Serves sessions of A2E over TCP, a socket or standard streams until it is interrupted. " +
        "CONFIG is a JSON file with the plugins: tools, memory, proc, mcp. Tokens have the grants " +
        "a2e:NAME; proviso mint makes them.",
    )
    .argument("<config>", "what sessions can use, a JSON file")
    .option(
      "--listen <address>",
      "HOST:PORT, instead of what the configuration says; port 0 for any",
      toText,
    )
    .option("--unix <path>", "a socket in the file system, this user's alone", toText)
    .option("--stdio", "one session, over standard input and output")
    .action((config: string, _options: object, self: Command) =>
      serve(context, config, flagsBefore<ServeOptions>(self)),
    );
  addDatabase(serving);
  const connecting = session
    .command("connect")
    .description(
      "Begins a session with a host and makes calls: the one of --call, or those of standard " +
        "input, one in a line, as OPERATION [NAME] [argument=value...] or as JSON. Says refused, " +
        "with every reason, if the host refuses; the exit codes are those of verify.",
    )
    .argument("<address>", ADDRESS_FORM)
    .argument("[words...]", "with --call: the name of what is called, and its arguments")
    .option("--token <token>", "a token, @FILE, or - for standard input; repeat for more", collect)
    .option("--ambient", "declare that you use ambient authority, without a token")
    .option(
      "--caps <names>",
      "capabilities, such as tools,memory; those of the tokens unless given",
      toText,
    )
    .addOption(
      new Option("--agent-id <name>", "what the session calls you")
        .argParser(toText)
        .default("proviso"),
    )
    .option("--call <operation>", "make one call, such as tool/call, and end", toText)
    .option("--stream", "print parts of an answer as they come")
    .action((address: string, words: readonly string[], _options: object, self: Command) =>
      connect(context, address, words, self.optsWithGlobals<ConnectOptions>()),
    );
  const serveLines = [
    "proviso session serve session.json",
    "proviso session serve session.json --unix ./a2e.sock",
  ];
  const connectLines = [
    "proviso session connect 127.0.0.1:4711 --token @token --call tool/list",
    "proviso session connect ./a2e.sock --token @token --call tool/call add a=1 b=2",
    "echo 'memory/set key=colour value=green' | proviso session connect ./a2e.sock --token @token --json",
  ];
  addExamples(serving, serveLines);
  addExamples(connecting, connectLines);
  addExamples(session, [...serveLines, ...connectLines]);
}

async function serve(context: Context, file: string, options: ServeOptions): Promise<void> {
  const stop = context.untilStopped();
  const at = placeOf(context, options);
  // Loaded on demand, so that help starts faster.
  const { readConfig } = await import("../serve/config.js");
  const { runHost } = await import("../session/host.js");
  const read = await readConfig(context, "session", file);
  const host = await runHost(context, read, { ...options, at });
  if (!stop.aborted) {
    for (const note of host.notes) say(context, printable(note));
    const { address } = host;
    // With `stdio`, standard output carries the messages of the session.
    if (at !== "stdio")
      printAnswer(context, options, { address }, [`Serving sessions at ${address}`]);
    await Promise.race([once(stop, "abort"), host.over]);
  }
  if (stop.aborted) {
    say(context, "stopping: what is under way is finished first; interrupt again to stop at once");
  }
  await host.close();
}

function placeOf(context: Context, { listen, unix, stdio }: ServeOptions): HostOptions["at"] {
  const given = [listen, unix, stdio].filter((one) => one !== undefined);
  if (given.length > 1) {
    throw usageError("--listen, --unix and --stdio exclude each other", "give one of them");
  }
  if (stdio === true) return "stdio";
  if (unix !== undefined) return addressFrom(context, `unix:${unix}`);
  return listen === undefined ? undefined : portFrom(listen);
}

async function connect(
  context: Context,
  address: string,
  words: readonly string[],
  options: ConnectOptions,
): Promise<void> {
  const { call: operation, agentId, caps, ambient = false, json = false, stream = false } = options;
  if (operation === undefined && words.length > 0) {
    throw usageError("a name or arguments are given without --call", "give --call OPERATION");
  }
  const call = operation === undefined ? undefined : callFrom(operation, words);
  const tokens = tokensFrom(context, options);
  const capabilities = caps?.split(",").map((name) => name.trim());
  addressFrom(context, address);
  const { connect: begin } = await import("../session/connect.js");
  await begin(context, { address, agentId, tokens, ambient, capabilities, json, stream, call });
}

function tokensFrom(context: Context, { token = [], ambient, call }: ConnectOptions): string[] {
  if (ambient === true && token.length > 0) {
    throw usageError("--ambient is to call without a token, and one is given", "drop one of them");
  }
  if (token.includes("-") && call === undefined) {
    const hint = "give the token as @FILE";
    throw usageError("the token and the calls cannot both come from standard input", hint);
  }
  const tokens = token.flatMap((argument) => {
    const all = readTokensArgument(context, argument);
    assertPresentable(argument, all);
    return all;
  });
  if (tokens.length > MAX_SESSION_TOKENS) {
    throw usageError(`a session may present at most ${MAX_SESSION_TOKENS} tokens`, "give fewer");
  }
  return tokens;
}
