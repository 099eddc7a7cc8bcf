import type { Command } from "commander";
import { diff, type TokenDiff } from "../../src/capability/diff.js";
import { CAPABILITY_LIMITS } from "../../src/capability/limits.js";
import { type ReadLink, readLinks, readToken } from "../../src/capability/read-token.js";
import type { Context } from "../context.js";
import { EXIT } from "../exit.js";
import { type Paint, printAnswer, printable, quoted, stdoutPaint } from "../output.js";
import { namingSource, readTokenArguments } from "../token-argument.js";
import { act, addExamples, type GlobalOptions } from "../verb.js";

export function define(program: Command, context: Context): void {
  const command = program
    .command("diff")
    .summary("what was taken away between two tokens")
    .description(
      "Describes what a child token allows less than its parent. Needs no key; only the issuer can " +
        "verify that either is genuine. Exit code 4 if one is not from the other.",
    )
    .argument("<parent>", "the token as it was: the token, @FILE or -")
    .argument("[child]", "the token narrowed from it: the token, @FILE or - (as when left out)")
    .action(act(context, run));
  addExamples(command, [
    "proviso diff @token @narrowed",
    "proviso attenuate @token --op search | proviso diff @token -",
  ]);
}

function run(context: Context, options: GlobalOptions, parent: string, child?: string): void {
  const [before, after] = readTokenArguments(context, parent, child);
  const linksOf = (token: string): readonly ReadLink[] =>
    readLinks(readToken(token, CAPABILITY_LIMITS)[0]);
  const { length: shared } = namingSource(parent, () => linksOf(before), "the parent");
  const links = namingSource(child, () => linksOf(after), "the child");
  const result = diff(before, after);
  if (!result.derived) context.exitCode = EXIT.notAuthentic;
  printAnswer(context, options, result, render(result, shared, links, stdoutPaint(context)));
}

/** @param shared - The number of links of the parent. */
function render(
  result: TokenDiff,
  shared: number,
  links: readonly ReadLink[],
  paint: Paint,
): string[] {
  if (!result.derived) return [`${paint.red("not related")}: ${printable(result.message)}`];
  const { added, changes } = result;
  const longer = links.length - shared;
  if (longer === 0) return ["Both are the same token."];
  const hops = longer === 1 ? "one hop" : `${longer} hops`;
  const lines = [`The second was narrowed from the first by ${hops}.`];
  const unreadable = [...links.entries()].slice(shared).filter(([, { kind }]) => kind !== "hop");
  for (const [at, { kind }] of unreadable) {
    const what = kind === "third-party" ? "needs a discharge" : "cannot be read";
    lines.push(paint.yellow(`  hop ${at + 1} ${what}; proviso inspect shows it`));
  }
  for (const { purpose } of added) {
    if (purpose !== undefined) lines.push(`  purpose: ${quoted(purpose)}`);
  }
  if (changes.length === 0 && unreadable.length === 0) lines.push("Nothing was taken away.");
  for (const { message } of changes) lines.push(`  ${printable(message)}`);
  return lines;
}
