import type { Task } from "@a2a-js/sdk";
import type { Command } from "commander";
import type { TaskSummary } from "../../src/protocols/a2a/tasks/operator.js";
import type { Context } from "../context.js";
import { usageError } from "../exit.js";
import { addDatabase, type HomeChoice, homeFor, withStores } from "../home.js";
import { printAnswer, printable, quoted } from "../output.js";
import {
  act,
  addExamples,
  DEFAULT_LIMIT,
  limitOption,
  listsAlone,
  sayMore,
  toText,
} from "../verb.js";

interface Options extends HomeChoice {
  readonly principal?: string;
  readonly limit?: number;
}

export function define(program: Command, context: Context): void {
  const tasks = program
    .command("tasks")
    .summary("the tasks of every principal, for the operator")
    .helpCommand(false)
    .description(
      "The tasks that an agent keeps, of all principals and whatever capabilities they were made " +
        "with. Reads them while the agent runs.",
    );
  listsAlone(tasks, context, list);
  const listing = tasks
    .command("list")
    .description("Lists tasks, the latest first: when, for whom, how each stands, and with what.")
    .option("--principal <user>", "only of this user", toText)
    .addOption(limitOption())
    .action(act(context, list));
  const showing = tasks
    .command("show")
    .description("Shows a task: its messages and its outcome.")
    .argument("<id>", "the task's id, from proviso tasks list or from the caller")
    .action(act(context, show));
  for (const verb of [listing, showing]) addDatabase(verb);
  const reading = ["proviso tasks list", "proviso tasks list --principal alice --json"];
  const one = "proviso tasks show 9a1c5d0e-5c55-4a4c-9f27-0c6f4d4f2b1a";
  addExamples(listing, reading);
  addExamples(showing, [one, `${one} --database /srv/agent/proviso.db --json`]);
  addExamples(tasks, [...reading, one]);
}

// Loaded on demand: this module needs the A2A SDK, but help does not.
const operator = (): Promise<typeof import("../../src/protocols/a2a/tasks/operator.js")> =>
  import("../../src/protocols/a2a/tasks/operator.js");

async function list(context: Context, options: Options): Promise<void> {
  const { listAllTasks } = await operator();
  const { principal, limit = DEFAULT_LIMIT } = options;
  // Read one more than requested, to know whether there are more.
  const found = await withStores(homeFor(context, options), (database) =>
    listAllTasks(database, { principal, limit: limit + 1 }),
  );
  const more = found.length > limit;
  const tasks = found.slice(0, limit);
  if (more && options.json !== true) sayMore(context, limit);
  const lines = tasks.length === 0 ? ["There are no tasks."] : tasks.map(lineOf);
  printAnswer(context, options, { tasks, more }, lines);
}

async function show(context: Context, options: Options, id: string): Promise<void> {
  const { readAnyTask } = await operator();
  const { Task: Tasks } = await import("../remote/sdk.js");
  const found = await withStores(homeFor(context, options), (database) =>
    readAnyTask(database, id),
  );
  if (found === undefined) {
    const hint =
      "proviso tasks list has the ids; the agent removes tasks that have not changed for long";
    throw usageError(`there is no task ${quoted(id)}`, hint);
  }
  const { summary, task } = found;
  const uses = summary.uses.map(({ grant, operation = "(presented)", resources }) => {
    const on = resources.length === 0 ? "" : ` on ${resources.map(quoted).join(", ")}`;
    return `  with     ${printable(`${grant} ${operation}`)}${on}`;
  });
  const said = task.history.flatMap(({ role, parts }) =>
    parts.map((part) => `  ${role === 1 ? "caller " : "agent  "}  ${wordsOf(part)}`),
  );
  const results = task.artifacts.flatMap(({ parts }) =>
    parts.map((part) => `  result   ${wordsOf(part)}`),
  );
  const lines = [lineOf(summary), ...uses, ...said, ...results];
  printAnswer(context, options, { ...summary, task: Tasks.toJSON(task) }, lines);
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
