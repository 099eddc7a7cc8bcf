import type { Command } from "commander";
import type { Context } from "../context.js";
import { addDatabase } from "../home.js";
import { printable, say } from "../output.js";
import { addExamples, collect, flagsBefore, toText } from "../verb.js";
import type { GateOptions } from "./gate-settings.js";
import { GATE_GRANT } from "./new-token.js";

/** Adds `proviso mcp gate`. */
export function defineGate(mcp: Command, context: Context): void {
  const command = mcp
    .command("gate")
    .description(
      "Stands in front of an MCP server and passes on what tokens allow. A host starts it in the " +
        "place of the server, whose command follows --. Refusals are results that say why, lists " +
        "show what is left, and every decision is in the ledger.",
    )
    .argument("[command...]", "after --: the server's command and its arguments")
    .option(
      "--token <token>",
      "the gate's own token, or @FILE, which is followed; repeat for more, all of which must " +
        "allow a call (env: PROVISO_TOKEN)",
      collect,
    )
    .option("--grant <grant>", `the grant of the tokens; ${GATE_GRANT} unless given`, toText)
    .option(
      "--audience <name>",
      "the gate in the audience of tokens; the issuer unless given",
      toText,
    )
    .option("--upstream <url>", "a server over Streamable HTTP, in the place of a command", toText)
    .option(
      "--name <name>",
      "a name for the server in pins; without it, pins name its command and folder, or its address",
      toText,
    )
    .option("--config <file>", "a JSON file with several servers, by name", toText)
    .option(
      "--listen <address>",
      "serve hosts over Streamable HTTP at HOST:PORT, port 0 for any; callers send their tokens",
      toText,
    )
    .option(
      "--allow-origin <url>",
      "with --listen: origin of web pages that may call, such as https://app.example; repeat for more",
      collect,
    )
    .option(
      "--allow-host <name>",
      "with --listen: a name in the header Host; repeat for more",
      collect,
    )
    .option("--resolve-paths", "follow symbolic links before a path is judged")
    .option(
      "--record <argument>",
      "an argument whose values the ledger keeps; repeat for more",
      collect,
    )
    .option(
      "--keys <file>",
      "in the place of a home: a service's keys, as keys service gives them",
      toText,
    )
    .option("--issuer <name>", "with --keys: the name of the issuer", toText)
    .option("--feed <url>", "with --keys: the address of the issuer's revocation list", toText)
    .option(
      "--state <dir>",
      "with --keys: a folder for the ledger and the pins, made if need be",
      toText,
    )
    .option("--insecure", "allow plain http to other machines, for --upstream and --feed")
    .action((words: readonly string[], _options: object, self: Command) =>
      run(context, flagsBefore<GateOptions>(self), words),
    );
  addDatabase(command);
  addExamples(command, [
    "proviso mcp gate --token @/home/me/.proviso/files.token -- npx -y @modelcontextprotocol/server-filesystem /data",
    "proviso mcp gate --token @files.token --record path --resolve-paths -- node server.js",
    "proviso mcp gate --config gate.json",
    "proviso mcp gate --listen 127.0.0.1:8808 --upstream https://server.example/mcp",
    "proviso mcp gate --keys files.jwks --issuer documents-agent --feed https://agent.example/revocations --state /var/lib/gate --token @files.token -- node server.js",
  ]);
}

async function run(
  context: Context,
  options: GateOptions,
  words: readonly string[],
): Promise<void> {
  const { json = false } = options;
  const signal = context.untilStopped();
  // Loaded on demand, because help does not need the modules.
  const { gateSettings } = await import("./gate-settings.js");
  const settings = await gateSettings(context, options, words);
  const { openGate } = await import("./open-gate.js");
  const { serveHost, serveHosts } = await import("./serve-host.js");
  const gate = await openGate(context, settings);
  try {
    for (const note of gate.notes) say(context, printable(note));
    if (settings.listen === undefined) await serveHost(context, gate, signal);
    else await serveHosts(context, gate, { ...settings, address: settings.listen, json }, signal);
  } finally {
    await gate.close();
  }
}
