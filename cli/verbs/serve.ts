import { once } from "node:events";
import { type Command, InvalidArgumentError } from "commander";
import type { Context } from "../context.js";
import { addDatabase } from "../home.js";
import { printAnswer, printable, say } from "../output.js";
import type { RunningAgent } from "../serve/run.js";
import type { RunOptions } from "../serve/settings.js";
import { addExamples, flagsBefore, toText } from "../verb.js";

export function define(program: Command, context: Context): void {
  const command = program
    .command("serve")
    .summary("serve an issuing agent over A2A")
    .description(
      "Serves an issuing agent over A2A 1.0 until it is interrupted. CONFIG is a JSON file with " +
        "its grants, policy, resources, skills and callers. Keys, revocations and the policy " +
        "file are followed while it runs. Once it takes calls, it says so on the first line of standard " +
        "output, with its address; that line is all of a JSON document with --json.",
    )
    .argument("<config>", "the agent's configuration, a JSON file")
    .option("--host <host>", "where to listen, instead of what the configuration says", toText)
    .option("--port <port>", "the port, instead of what the configuration says; 0 for any", toPort)
    .option(
      "--metrics <address>",
      "where to serve counts for Prometheus without a login, such as 127.0.0.1:9464",
      toText,
    )
    .action((config: string, _options: object, self: Command) =>
      run(context, config, flagsBefore<RunOptions>(self)),
    );
  addDatabase(command);
  addExamples(command, ["proviso serve agent.json", "proviso serve agent.json --port 8080 --json"]);
}

async function run(context: Context, file: string, options: RunOptions): Promise<void> {
  const stop = context.untilStopped();
  const agent = await start(context, file, options);
  if (!stop.aborted) {
    tell(context, agent, options.json === true);
    await once(stop, "abort");
  }
  say(context, "stopping: what is under way is finished first; interrupt again to stop at once");
  await agent.close();
}

// Loaded on demand, so that help starts faster.
async function start(context: Context, file: string, options: RunOptions): Promise<RunningAgent> {
  const { readConfig } = await import("../serve/config.js");
  const read = await readConfig(context, "config", file);
  const { runAgent } = await import("../serve/run.js");
  return runAgent(context, read, options);
}

function tell(context: Context, { server, mode, notes }: RunningAgent, json: boolean): void {
  for (const note of notes) say(context, printable(note));
  const { url, addresses } = server;
  const named = Object.fromEntries(addresses.map((address) => [address.name, address.url]));
  printAnswer(context, { json }, { ...named, url, mode }, [
    `Serving at ${url}`,
    ...[...addresses, { label: "mode", url: mode }].map(
      (line) => `  ${line.label.padEnd(10)} ${line.url}`,
    ),
  ]);
}

function toPort(text: string): number {
  const port = /^\d{1,5}$/.test(text) ? Number(text) : Number.NaN;
  if (port <= 65535) return port;
  throw new InvalidArgumentError("Give a port from 0 to 65535; 0 is any free one.");
}
