import { hostname } from "node:os";
import { relative } from "node:path";
import { type Command, InvalidArgumentError, Option } from "commander";
import { DEFAULT_MAX_LIFETIME } from "../../src/capability/mint.js";
import { readDuration } from "../../src/caveats/time.js";
import { createHome } from "../../src/home/create-home.js";
import { type HomeGrant, isLifetime } from "../../src/home/home-config.js";
import { grantsById } from "../../src/issuer/grant.js";
import { isAddress } from "../../src/storage/database.js";
import { withoutPassword } from "../../src/storage/postgres.js";
import { absolutePath, type Context } from "../context.js";
import { asUsage, usageError } from "../exit.js";
import { addDatabase, databaseAt, type HomeChoice, homeFor } from "../home.js";
import { spanInWords } from "../moment.js";
import { printAnswer, printable, quoted, say } from "../output.js";
import { NEXT } from "../scaffold/readme.js";
import { act, addExamples, collect, type GlobalOptions, toText } from "../verb.js";

const GRANT_FORM = "write it like documents:read=retrieve,search";

interface Options extends HomeChoice {
  readonly issuer?: string;
  readonly maxLifetime: number;
  readonly grant?: readonly string[];
}

export function define(program: Command, context: Context): void {
  const command = program
    .command("init")
    .summary("make a home: issuer name, key, database")
    .description(
      "Makes an issuer's home: its name, a new root key and an empty database, readable by you " +
        "alone. Refuses to overwrite anything; a database that is named is used as it is.",
    )
    .option("--issuer <name>", "the name that stands in every token (default: the host's)", toText)
    .addOption(
      new Option(
        "--max-lifetime <duration>",
        "how long a token may live at most, such as 8h or 30d; 90d is the limit",
      )
        .argParser(toLifetime)
        .default(DEFAULT_MAX_LIFETIME, "24h"),
    )
    .option(
      "--grant <grant=operations>",
      "a grant with its operations, such as documents:read=retrieve,search; repeat for more",
      collect,
    )
    .action(act(context, run));
  addDatabase(command);
  addExamples(command, [
    "proviso init --issuer documents-agent",
    "proviso init --home ./other-home --issuer billing-agent --max-lifetime 8h",
    "proviso init --home ./listed-home --issuer documents-agent --grant documents:read=retrieve,search --grant documents:write=update",
    "proviso init agent my-agent",
  ]);
  const agent = command
    .command("agent")
    .summary("write an agent of your own that runs at once")
    .description(
      "Writes an agent of your own: its configuration, policy, one skill with its test, an access " +
        "token for development, and a home. It runs at once, and nothing has to be installed " +
        "beside it. PROVISO_DATABASE names another database than the home's own. Refuses a folder " +
        "that is not empty.",
    )
    .argument("[dir]", "the agent's folder, which gives it its name; this one unless given")
    .action(writeNewAgent(context));
  addExamples(agent, [
    "proviso init agent calculator",
    "proviso init agent ./agents/billing --json",
  ]);
}

function writeNewAgent(context: Context) {
  return async (dir: string | undefined, _options: object, self: Command): Promise<void> => {
    const { parent } = self;
    const foreign = ["issuer", "maxLifetime", "grant", "database"].find(
      (name) => parent?.getOptionValueSource(name) === "cli",
    );
    const isHomeNamed = self.getOptionValueSourceWithGlobals("home") === "cli";
    if (foreign !== undefined || isHomeNamed) {
      const flag = isHomeNamed
        ? "--home"
        : `--${foreign === "maxLifetime" ? "max-lifetime" : foreign}`;
      const hint = "leave it out; the folder gives the agent its name and holds its home";
      throw usageError(`${flag} is not for proviso init agent`, hint);
    }
    if (dir === "")
      throw usageError("the folder's name is empty", "name a folder, or leave it out");
    const folder = absolutePath(context, dir ?? ".");
    const { writeAgent } = await import("../scaffold/write.js");
    const named = context.env["PROVISO_DATABASE"] || undefined;
    const database = named === undefined ? undefined : databaseAt(context, named);
    const { kid } = await writeAgent(folder, database);
    if (database !== undefined) {
      const shown = isAddress(database) ? withoutPassword(database) : database;
      say(
        context,
        `The database is ${printable(shown)}: serve needs PROVISO_DATABASE as it is now.`,
      );
    }
    const place = context.cwd === undefined ? folder : relative(context.cwd, folder);
    printAnswer(context, self.optsWithGlobals<GlobalOptions>(), { folder, kid, next: NEXT }, [
      `Made an agent at ${printable(folder)}`,
      place === "" ? "Next:" : `Next, in ${printable(place)}:`,
      ...NEXT.map((line) => `  ${line}`),
    ]);
  };
}

async function run(context: Context, options: Options): Promise<void> {
  const { folder, database } = homeFor(context, options);
  const issuer = options.issuer ?? hostname();
  const { maxLifetime, grant } = options;
  const grants = grant?.map(grantFrom);
  if (grants !== undefined) asUsage(() => grantsById(grants), GRANT_FORM);
  const keyring = await createHome({ folder, database, issuer, maxLifetime, grants });
  const { kid } = keyring.minting;
  if (options.issuer === undefined && options.json !== true) {
    say(context, `The issuer is named after this host; --issuer gives it a name of its own.`);
  }
  printAnswer(context, options, { home: folder, issuer, kid, maxLifetime, grants }, [
    `Made a home at ${printable(folder)}`,
    `  issuer    ${quoted(issuer).slice(1, -1)}`,
    `  key       ${kid}`,
    `  lifetime  ${spanInWords(maxLifetime * 1000)} at most`,
    ...(grants ?? []).map(
      ({ id, operations }) =>
        `  grant     ${printable(id)}: ${operations.map(printable).join(", ")}`,
    ),
  ]);
}

/**
 * Reads `GRANT=OPERATION,OPERATION`.
 *
 * @throws CliError if the form is wrong.
 */
function grantFrom(text: string): HomeGrant {
  const at = text.indexOf("=");
  const operations = text
    .slice(at + 1)
    .split(",")
    .map((operation) => operation.trim());
  if (at < 1 || operations.includes("")) {
    const hint = GRANT_FORM;
    throw usageError(`--grant ${quoted(text)}: this is not a grant with its operations`, hint);
  }
  return { id: text.slice(0, at), operations: [...new Set(operations)] };
}

function toLifetime(text: string): number {
  const seconds = readDuration(text);
  if (seconds === undefined) {
    throw new InvalidArgumentError("Give a duration, such as 90s, 15m, 8h or 30d.");
  }
  if (!isLifetime(seconds)) throw new InvalidArgumentError("It is 1s at least and 90d at most.");
  return seconds;
}
