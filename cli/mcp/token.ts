import type { Command } from "commander";
import type { MintRequest } from "../../src/capability/mint.js";
import type { Context } from "../context.js";
import { usageError } from "../exit.js";
import { addDatabase } from "../home.js";
import { deadOperationNotes } from "../minting.js";
import { seenFromNow } from "../moment.js";
import { printAnswer, printable, renderRows, say, stdoutPaint } from "../output.js";
import { addRestrictions, restrictionsFrom } from "../restrictions.js";
import { hopRows } from "../token-words.js";
import { act, addExamples, collect, toText } from "../verb.js";
import { assertGateOperations, GATE_KEYS } from "./gate-names.js";
import { configurationLines, gateConfigLines, replacedLines } from "./host-configuration.js";
import { GATE_GRANT, type NewToken, type NewTokenOptions, writeNewToken } from "./new-token.js";

interface Options extends NewTokenOptions {
  readonly grant: string;
  readonly principal?: string;
  readonly anyOp?: boolean;
  readonly request?: readonly string[];
}

/** Adds `proviso mcp token`. */
export function defineToken(mcp: Command, context: Context): void {
  const command = mcp
    .command("token")
    .description(
      "Writes a token for a gate to a file that only you may read, and makes a home if there is none. " +
        "Operations are names of tools, or SERVER/TOOL with several servers; for the rest, such as " +
        "resources:read, prompts:get and client:sampling. A running gate takes the new token at once.",
    )
    .option("--grant <grant>", "the grant of the gate", toText, GATE_GRANT)
    .option("--principal <user>", "the user on whose behalf", toText)
    .option("--any-op", "allow every tool and everything else, now and in future")
    .option(
      "--request <file>",
      "a file with these options, such as proviso mcp learn writes; repeat for more",
      collect,
    )
    .option("-o, --output <file>", "the file; mcp.token in the home unless given", toText);
  addRestrictions(command, {
    keys: GATE_KEYS,
    help: {
      expires: "when it expires: a time, or a duration from now; 30d, or what the home allows",
    },
  }).action(act(context, run));
  addDatabase(command);
  addExamples(command, [
    "proviso mcp token --op read_text_file,list_directory --arg '*:path under /data'",
    "proviso mcp token --output ./files.token --op read_text_file --op resources:read --arg 'read_text_file:path under /data' --expires 7d",
    "proviso mcp token --request ./files.request --output ./files.token",
    "proviso mcp token --any-op --json",
  ]);
}

async function run(context: Context, options: Options): Promise<void> {
  const { grant, principal, anyOp, restrictions } = await requestFrom(context, options);
  if (restrictions.operations === undefined && anyOp !== true) {
    throw usageError(
      "no tool is named",
      "name tools with --op, or allow all with --any-op; proviso mcp learn finds out what a host uses",
    );
  }
  assertGateOperations(restrictions);
  const request: MintRequest = { grant, principal, anyOperation: anyOp, ...restrictions };
  const written = await writeNewToken(context, options, request);
  const { minted, file, home, madeHome, replaced } = written;
  const { id, issued, expires, revocationId, hop } = minted;
  const made = { file, home: home.folder, madeHome };
  const document = { ...made, id, grant, principal, issued, expires, revocationId, hop, replaced };
  for (const note of deadOperationNotes(hop)) say(context, note);
  printAnswer(context, options, document, lines(context, options, written));
}

/** Reads the request for a token from the flags, or from the files that `--request` names. */
async function requestFrom(context: Context, options: Options) {
  const { grant, principal, anyOp, request } = options;
  const restrictions = await restrictionsFrom(options);
  if (request === undefined) return { grant, principal, anyOp, restrictions };
  if (Object.keys(restrictions).length > 0 || principal !== undefined || anyOp !== undefined) {
    const hint = `write them into the file, one on each line`;
    throw usageError("--request has all that the token allows, and other limits are given", hint);
  }
  const { readRequest } = await import("./request-file.js");
  const read = await readRequest(context, request);
  return { ...read, grant: read.grant ?? grant };
}

function lines(context: Context, options: Options, written: NewToken): string[] {
  const { minted, file, home, madeHome } = written;
  const now = Date.now();
  const token = { home, file, grant: minted.grant };
  // An operation with a slash names its server, because the name of a tool has no slash.
  const namesServers = minted.hop.operations?.some((one) => one.includes("/")) === true;
  return [
    ...(madeHome ? [`Made a home at ${printable(home.folder)}`] : []),
    `Wrote ${printable(file)}: ${minted.id} expires ${seenFromNow(minted.expires, now)}`,
    ...renderRows(hopRows(minted.hop, now), stdoutPaint(context), "  "),
    ...replacedLines(context, options, written),
    ...(namesServers
      ? gateConfigLines(options, token)
      : configurationLines(context, undefined, options, token)),
  ];
}
