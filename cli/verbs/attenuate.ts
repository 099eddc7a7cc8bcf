import type { Command } from "commander";
import { type Attenuation, attenuate, revocationId } from "../../src/capability/attenuate.js";
import type { HopInit } from "../../src/caveats/hop.js";
import type { Overreach } from "../../src/caveats/hop-rule.js";
import type { Context } from "../context.js";
import { asUsage, CliError, EXIT, usageError } from "../exit.js";
import { printable, say } from "../output.js";
import { addRestrictions, flagOf, restrictionsFrom, withinSize } from "../restrictions.js";
import { namingSource, readTokenArgument, TOKEN_HELP } from "../token-argument.js";
import { addOutput, printTokens, type TokenOutput } from "../token-file.js";
import { act, addExamples, type GlobalOptions } from "../verb.js";

const LEAVES_NOTHING = " would leave nothing";

interface Options extends GlobalOptions, TokenOutput {
  readonly intersect?: boolean;
  readonly nonce: boolean;
}

export function define(program: Command, context: Context): void {
  const command = program
    .command("attenuate")
    .summary("narrow a token, offline")
    .description(
      "Narrows a token by one hop and prints the child token. The given token stays as it is. " +
        "Needs no home, no key and no network.",
    )
    .argument("[token]", TOKEN_HELP);
  addRestrictions(command, {
    help: {
      expires: "when the child expires: a time, or a duration such as 5m, at most so long from now",
    },
  })
    .option("--intersect", "narrow silently to what the token still allows")
    .option("--no-nonce", "leave out the random nonce that makes this child revocable on its own");
  addOutput(command).action(act(context, run));
  addExamples(command, [
    "proviso attenuate @token --op retrieve --expires 5m > narrowed",
    "proviso attenuate @token --expires 5m --output shorter",
    "proviso attenuate --arg 'amount<=1000' --arg 'currency in USD,EUR' < token",
    "proviso attenuate @token --arg 'search:path under /data' --only-args 'search:path'",
    "cat token | proviso attenuate --max-further-hops 0 --purpose 'summarise one report'",
    "proviso attenuate @token --expires 2030-01-31T23:59:59Z --intersect",
  ]);
}

async function run(context: Context, options: Options, argument?: string): Promise<void> {
  const restrictions = await restrictionsFrom(options);
  if (Object.keys(restrictions).length === 0 && !options.nonce) {
    const hint = "add one, such as --op or --expires; proviso attenuate --help lists them";
    throw usageError("nothing to take away: no restriction is given", hint);
  }
  const token = readTokenArgument(context, argument);
  const intersect = options.intersect === true;
  const result = namingSource(argument, () => {
    // Check the token first. Otherwise a bad token would be reported as a fault of the restrictions.
    revocationId(token);
    const narrow = (): Attenuation =>
      asUsage(() => attenuate(token, restrictions, { intersect, nonce: options.nonce }));
    return withinSize(narrow, "the restrictions", "--purpose");
  });
  if (!result.ok) {
    const problems = result.overreaches.map((one) => inFlags(one, restrictions));
    const clippable = !intersect && attenuate(token, restrictions, { intersect: true }).ok;
    throw refusal(problems, clippable);
  }
  const { token: child, hop, revocationId: id, note } = result;
  if (note !== undefined) say(context, `note: ${printable(note)}`);
  if (options.json !== true) {
    await printTokens(context, options, undefined, [child]);
    if (!context.stderr.isTerminal) return;
    const { summaryLine } = await import("../token-words.js");
    say(context, summaryLine(child));
    return;
  }
  const { inspect } = await import("../../src/capability/inspect.js");
  const { capability, authority } = inspect(child);
  const { expires } = authority;
  const document = { token: child, id: capability?.id, hop, expires, revocationId: id };
  await printTokens(context, options, document, [child]);
}

/** Returns whether a string contains several values, each of which needs its own flag. */
function isListed({ rule, value, allowed }: Overreach): boolean {
  if (!Array.isArray(allowed) || typeof value !== "string" || rule === "constraints") return false;
  const parts = value.split(/[,;|\s]+/).filter((part) => part !== "");
  return parts.length > 1 && parts.some((part) => allowed.includes(part));
}

/** If a problem says that `notBefore` leaves nothing of the lifetime, replaces the property's name by a flag. */
function inFlags(problem: Overreach, given: HopInit): Overreach {
  const { rule, message } = problem;
  if (rule !== "notBefore" || !message.endsWith(LEAVES_NOTHING)) return problem;
  const flag = flagOf(given.notBefore === undefined ? "expires" : rule);
  return { ...problem, message: `${flag}${LEAVES_NOTHING}` };
}

/** @param clippable - True if the token can be narrowed with `--intersect`. */
function refusal(problems: readonly Overreach[], clippable: boolean): CliError {
  const unreadable = problems.some((problem) => problem.rule === "caveats");
  const message = unreadable
    ? "the token has a hop that cannot be read"
    : "this goes beyond what the token still allows";
  const sealed = problems.some((problem) => problem.message.startsWith("the token is sealed"));
  let hint: string | undefined;
  if (unreadable)
    hint = "ask the party that narrowed it to do it again; proviso inspect shows the hop";
  else if (sealed) hint = "use the token as it is, or ask its sender for one that can be narrowed";
  else if (problems.some(isListed))
    hint = "repeat the option for each value, such as --audience a --audience b";
  else if (clippable) hint = "correct it, or add --intersect to narrow to what is left";
  else {
    const correction = problems.some(({ value }) => value !== null) ? "correct it; " : "";
    hint = `${correction}proviso inspect shows what the token still allows`;
  }
  const code = unreadable ? "unreadable_hop" : "overreach";
  return new CliError({ code, message, exitCode: EXIT.refused, hint, details: { problems } });
}
