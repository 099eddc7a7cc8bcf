import { type Command, InvalidArgumentError, Option } from "commander";
import { readDuration } from "../../src/caveats/time.js";
import { type GlobalOptions, toText } from "../verb.js";

/** What every verb understands that reads an agent's card. */
export interface CardOptions extends GlobalOptions {
  /** Milliseconds. */
  readonly timeout?: number;
  readonly insecure?: boolean;
}

/** What every verb understands that asks an agent for something on somebody's behalf. */
export interface RemoteOptions extends CardOptions {
  readonly accessToken?: string;
  readonly binding?: "jsonrpc" | "rest";
  readonly allowOrigin?: string;
  /** Whether to declare with every call that it uses ambient authority. */
  readonly ambient?: boolean;
}

/** How an agent's address is explained in every verb's help. */
export const URL_HELP = "the agent's address, or that of its Agent Card, ending in .json";

/** Milliseconds to wait for an answer where nothing else is said. */
export const DEFAULT_TIMEOUT = 60_000;
const MAX_TIMEOUT = 3_600_000;

/** Adds the options of a verb that reads an agent's card. */
export function addCardOptions(command: Command): Command {
  return command
    .option("--timeout <duration>", "how long to wait for an answer; 60s unless given", toTimeout)
    .option("--insecure", "allow plain http to other machines: tokens travel in clear");
}

/** Adds the options of a verb that asks an agent for something. */
export function addRemoteOptions(command: Command): Command {
  command
    .option(
      "--access-token <source>",
      "your OAuth access token for this agent: @FILE, or - for standard input; the variable " +
        "PROVISO_ACCESS_TOKEN unless given",
      toText,
    )
    .addOption(
      new Option(
        "--binding <name>",
        "how to talk to the agent; what its card prefers unless given",
      ).choices(["jsonrpc", "rest"]),
    )
    .option(
      "--allow-origin <url>",
      "another origin that tokens may go to if the agent's card names it",
      toText,
    );
  return addCardOptions(command);
}

function toTimeout(text: string): number {
  const milliseconds = (readDuration(text) ?? 0) * 1000;
  if (milliseconds >= 1000 && milliseconds <= MAX_TIMEOUT) return milliseconds;
  throw new InvalidArgumentError("Give a duration from 1s to 1h, such as 10s.");
}
