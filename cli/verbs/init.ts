import { hostname } from "node:os";
import { type Command, InvalidArgumentError, Option } from "commander";
import { DEFAULT_MAX_LIFETIME } from "../../src/capability/mint.js";
import { addExamples } from "../examples.js";
import type { GlobalOptions } from "../global-options.js";
import { homePaths, isLifetime } from "../home.js";
import { readDuration, spanInWords } from "../moment.js";
import { createHome } from "../new-home.js";
import { printJson, printLine, say } from "../output.js";
import { printable, quoted } from "../printable.js";
import { toText } from "../restrictions.js";

interface Options extends GlobalOptions {
  readonly issuer?: string;
  readonly maxLifetime: number;
}

export function define(program: Command): void {
  const command = program
    .command("init")
    .summary("make a home: issuer name, key, revocation store")
    .description(
      "Makes an issuer's home: its name, a new root key and an empty revocation store, readable " +
        "by you alone. Refuses to overwrite anything.",
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
    .action((_options: object, self: Command) => run(self.optsWithGlobals<Options>()));
  addExamples(command, "Examples", [
    "proviso init --issuer documents-agent",
    "proviso init --home ./other-home --issuer billing-agent --max-lifetime 8h",
  ]);
}

async function run(options: Options): Promise<void> {
  const paths = homePaths(options);
  const issuer = options.issuer ?? hostname();
  const { maxLifetime } = options;
  const keyring = await createHome(paths, { issuer, maxLifetime });
  const { kid } = keyring.minting;
  if (options.json === true) {
    printJson({ home: paths.folder, issuer, kid, maxLifetime });
    return;
  }
  if (options.issuer === undefined) {
    say(`The issuer is named after this host; --issuer gives it a name of its own.`);
  }
  printLine(`Made a home at ${printable(paths.folder)}`);
  printLine(`  issuer    ${quoted(issuer).slice(1, -1)}`);
  printLine(`  key       ${kid}`);
  printLine(`  lifetime  ${spanInWords(maxLifetime * 1000)} at most`);
}

function toLifetime(text: string): number {
  const seconds = readDuration(text);
  if (seconds === undefined) {
    throw new InvalidArgumentError("Give a duration, such as 90s, 15m, 8h or 30d.");
  }
  if (!isLifetime(seconds)) throw new InvalidArgumentError("It is 1s at least and 90d at most.");
  return seconds;
}
