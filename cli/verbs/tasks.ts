import { Task } from "@a2a-js/sdk";
import { type Command, InvalidArgumentError } from "commander";
import { listAllTasks, readAnyTask, type TaskSummary } from "../../src/stores/tasks/operator.js";
import type { Context } from "../context.js";
import { environmentError } from "../exit.js";
import { addDatabase, type HomeChoice, homeFor, withStores } from "../home.js";
import { printable, printJson, printLine, quoted, say } from "../output.js";
import { act, addExamples, toText } from "../verb.js";

interface Options extends HomeChoice {
  readonly principal?: string;
  readonly limit?: number;
}

const DEFAULT_LIMIT = 100;
const MAX_LIMIT = 1_000_000;

export function define(program: Command, context: Context): void {
  const tasks = program
    .command("tasks")
    .summary("the tasks of every principal, for the operator")
    .helpCommand(false)
    .description(
      "The tasks that an agent keeps, of all principals and whatever capabilities they were made " +
        "with. Reads them while the agent runs.",
    );
  const listing = tasks
    .command("list")
    .description("Lists tasks, the latest first: when, for whom, how each stands, and with what.")
    .option("--principal <user>", "only of this user", toText)
    .option("--limit <count>", `the latest so many; ${DEFAULT_LIMIT} unless given`, toLimit)
    .action(act(context, list));
  const showing = tasks
    .command("show")
    .description("Shows a task: what was said in it, and what came of it.")
    .argument("<id>", "the task's id, from proviso tasks list or from the caller")
    .action(act(context, show));
  for (const verb of [listing, showing]) addDatabase(verb);
  const reading = ["proviso tasks list", "proviso tasks list --principal alice --json"];
  const one = "proviso tasks show 9a1c5d0e-5c55-4a4c-9f27-0c6f4d4f2b1a";
  addExamples(listing, "Examples", reading);
  addExamples(showing, "Examples", [one, `${one} --database /srv/agent/proviso.db --json`]);
  addExamples(tasks, "Examples", [...reading, one]);
}

async function list(context: Context, options: Options): Promise<void> {
  const { principal, limit = DEFAULT_LIMIT } = options;
  // One more, to know whether there are more.
  const found = await withStores(homeFor(context, options), (database) =>
    listAllTasks(database, { principal, limit: limit + 1 }),
  );
  const more = found.length > limit;
  const tasks = found.slice(0, limit);
  if (options.json === true) {
    printJson(context, { tasks, more });
    return;
  }
  if (more) say(context, `note: only the latest ${limit} are listed; --limit asks for more`);
  printLine(context, tasks.length === 0 ? "There are no tasks." : tasks.map(lineOf).join("\n"));
}

async function show(context: Context, options: Options, id: string): Promise<void> {
  const found = await withStores(homeFor(context, options), (database) =>
    readAnyTask(database, id),
  );
  if (found === undefined) {
    throw environmentError(
      "task_missing",
      `there is no task ${quoted(id)}`,
      "proviso tasks list has the ids; the agent removes tasks that have not changed for long",
    );
  }
  const { summary, task } = found;
  if (options.json === true) {
    printJson(context, { ...summary, task: Task.toJSON(task) });
    return;
  }
  printLine(context, lineOf(summary));
  for (const { grant, operation = "(presented)", resources } of summary.uses) {
    const on = resources.length === 0 ? "" : ` on ${resources.map(quoted).join(", ")}`;
    printLine(context, `  with     ${printable(`${grant} ${operation}`)}${on}`);
  }
  const { history, artifacts } = task;
  for (const { role, parts } of history) {
    for (const part of parts)
      printLine(context, `  ${role === 1 ? "caller " : "agent  "}  ${wordsOf(part)}`);
  }
  for (const { parts } of artifacts) {
    for (const part of parts) printLine(context, `  result   ${wordsOf(part)}`);
  }
}

function lineOf({ id, saved, state, principal, invoker, bytes }: TaskSummary): string {
  const who = invoker === undefined ? `${principal} (ambient)` : `${principal} via ${invoker}`;
  const stands = state.replace("TASK_STATE_", "").toLowerCase();
  return [saved, printable(id), stands.padEnd(9), printable(who), `${bytes} bytes`].join("  ");
}

function wordsOf({ content }: Task["history"][number]["parts"][number]): string {
  if (content?.$case === "text") return printable(content.value);
  return printable(JSON.stringify(content?.$case === "data" ? content.value : null));
}

function toLimit(text: string): number {
  const limit = /^\d{1,7}$/.test(text) ? Number(text) : 0;
  if (limit >= 1 && limit <= MAX_LIMIT) return limit;
  throw new InvalidArgumentError(`Give a whole number from 1 to ${MAX_LIMIT}.`);
}
