import { readFileSync } from "node:fs";
import { type Command, Help } from "commander";
import { escapedJson } from "./output.js";
import { packageFile } from "./package-file.js";
import { addExamples } from "./verb.js";

type Item = readonly [term: string, what: string];

const EXIT_CODES: readonly Item[] = [
  ["0", "done, or allowed"],
  ["1", "refused by a rule"],
  ["2", "the command line is not right"],
  ["3", "the token is malformed"],
  ["4", "the token is not authentic"],
  ["5", "revoked, or the revocation list is too old"],
  ["6", "the environment: no home, an unreadable file, a locked store, a full disk"],
  ["7", "card diff: something is announced to end"],
  ["8", "card diff: something is gone"],
  ["9", "people have to approve it first, and have not decided yet"],
];

const ENVIRONMENT: readonly Item[] = [
  [
    "PROVISO_HOME",
    "the issuer's home folder; --home overrides it. Without either it is ~/.local/share/proviso " +
      "(Linux, below XDG_DATA_HOME if that is set), ~/Library/Application Support/proviso (macOS), " +
      "%LOCALAPPDATA%\\proviso (Windows)",
  ],
  ["PROVISO_ACCESS_TOKEN", "your OAuth access token, for request and invoke"],
  ["PROVISO_TOKEN", "the gate's own token, or @FILE, for mcp gate and mcp explain"],
  ["NO_COLOR", "no colours, like --no-color; FORCE_COLOR: colours even without a terminal"],
  ["COLUMNS", "the width of this help, in characters"],
];

const BEARER =
  "A token is a bearer token: any party that has it can use it. @FILE and - keep it out of the shell's " +
  "history and the list of processes.";

function afterCommands(width: number): string {
  const help = new Help();
  help.prepareContext({ helpWidth: width });
  help.minWidthToWrap = 16;
  const list = (title: string, items: readonly Item[]): string => {
    const longest = Math.max(...items.map(([term]) => term.length));
    const lines = items.map(([term, what]) => help.formatItem(term, longest, what, help));
    return [`${title}:`, ...lines].join("\n");
  };
  const parts = [
    list("Exit codes", EXIT_CODES),
    list("Environment", ENVIRONMENT),
    help.boxWrap(BEARER, width),
  ];
  return `\n${parts.join("\n\n")}`;
}

/**
 * Adds the help of the program as a whole.
 *
 * @param width - The width of the help in characters.
 * @param json - True if the user requests the version as JSON.
 */
export function describe(program: Command, width: number, json: boolean): void {
  program
    .description(
      "Capabilities for agents: mint one, narrow it offline, check it, revoke any branch of it.",
    )
    .usage("<command> [options]")
    .version(
      json ? escapedJson({ version: version() }) : version(),
      "-v, --version",
      "show the version",
    )
    .helpCommand("help [command...]", "show the help of a command");
  const path = [
    "proviso init --issuer documents-agent",
    "proviso mint --grant documents:read --op retrieve --op search > token",
    "proviso attenuate @token --op retrieve --expires 5m > narrowed",
    "proviso inspect @narrowed",
    "proviso verify @narrowed --grant documents:read --op retrieve",
    "proviso revoke @narrowed --reason 'task done'",
  ];
  addExamples(program, path, "The common path");
  program.addHelpText("after", afterCommands(width));
}

function version(): string {
  const text = readFileSync(packageFile("package.json"), "utf8");
  const { version = "unknown" }: { readonly version?: string } = JSON.parse(text);
  return version;
}
