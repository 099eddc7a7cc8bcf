import { spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import type { Command } from "commander";
import type { Context } from "../context.js";
import { EXIT } from "../exit.js";
import { wantsColour } from "../output.js";
import { packageFile } from "../package-file.js";
import { act, addExamples, type GlobalOptions } from "../verb.js";

export function define(program: Command, context: Context): void {
  const command = program
    .command("quickstart")
    .summary("watch a real agent grant, refuse and revoke")
    .description(
      "Serves a real agent over a folder of documents, on loopback. An orchestrator asks it for a " +
        "capability and narrows it offline for two sub-agents. One of them reads an injected prompt " +
        "and makes eight attempts, each of which is refused; its branch is revoked, and the other " +
        "goes on. Needs no home; what it makes is in a temporary folder, and is removed at the end.",
    )
    .action(act(context, run));
  addExamples(command, ["proviso quickstart", "proviso quickstart --json"]);
}

/** Runs examples/quickstart.mjs in a separate process. The build copies that file to the folder of this command. */
async function run(context: Context, { json = false }: GlobalOptions): Promise<void> {
  const script = fileURLToPath(packageFile("dist/quickstart/quickstart.mjs"));
  const proviso = fileURLToPath(packageFile("dist/main.cjs"));
  const stop = context.untilStopped();
  const coloured = wantsColour(context.env, context.stdout.isTerminal);
  const child = spawn(process.execPath, [script, proviso, ...(json ? ["--json"] : [])], {
    stdio: ["ignore", "pipe", "pipe"],
    env: { ...context.env, FORCE_COLOR: coloured ? "1" : undefined },
  });
  stop.addEventListener("abort", () => child.kill());
  child.stdout.on("data", (bytes: Buffer) => context.stdout.write(bytes));
  child.stderr.on("data", (bytes: Buffer) => context.stderr.write(bytes));
  const status = await new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("close", resolve);
  });
  context.exitCode = status === 0 ? EXIT.done : EXIT.refused;
}
