import type { HopInit } from "../../src/caveats/hop.js";
import { HOP_KEYS, type HopKey } from "../../src/caveats/hop-rules.js";
import { EVERY_OPERATION } from "../../src/caveats/operation-authority.js";
import { OPERATIONS } from "../../src/protocols/mcp/gate/methods.js";
import { isServerName } from "../../src/protocols/mcp/gate/servers.js";
import { usageError } from "../exit.js";
import { quoted } from "../output.js";
import { didYouMean } from "../unknown-name.js";

/** The operations that are not names of tools. */
const OTHERS: readonly string[] = Object.values(OPERATIONS);

/**
 * The properties of a hop that a gate's token may have. A call through a gate names no invoker, and an MCP server has
 * no resource handles, so a token limited by either would allow nothing.
 */
export const GATE_KEYS: readonly HopKey[] = HOP_KEYS.filter(
  (key) => key !== "invokers" && key !== "resourceHandles",
);

/** @throws CliError if the value of an option is given, and is not a name that a server can have. */
export function assertServerName(option: string, name: string | undefined): void {
  if (name === undefined || isServerName(name)) return;
  throw usageError(
    `${option} ${quoted(name)} cannot be the name of a server`,
    "a name has letters, digits and -, and single _ between them",
  );
}

/**
 * Refuses operations that no call through a gate can have. A token with such an operation allows no call by it, and a
 * limit on such an operation has no effect.
 *
 * @throws CliError that names the nearest operation, if one is similar.
 */
export function assertGateOperations({
  operations = [],
  operationConstraints = {},
  arguments: lists = {},
}: HopInit): void {
  for (const operation of operations) assertGateOperation("--op", operation);
  for (const operation of Object.keys(operationConstraints)) assertEntry("--arg", operation);
  for (const operation of Object.keys(lists)) assertEntry("--only-args", operation);
}

function assertEntry(option: string, operation: string): void {
  if (operation !== EVERY_OPERATION) assertGateOperation(option, operation);
}

function assertGateOperation(option: string, operation: string): void {
  const slash = operation.indexOf("/");
  const server = operation.slice(0, Math.max(slash, 0));
  const name = operation.slice(slash + 1);
  const problem = `${option} ${quoted(operation)}: no call through a gate has this operation`;
  if (slash !== -1 && !isServerName(server)) {
    throw usageError(problem, "the part before / is the name of a server, such as files/send");
  }
  if (name === "" || name.includes("/")) {
    throw usageError(problem, "write the name of a tool, or SERVER/TOOL");
  }
  if (!name.includes(":") || OTHERS.includes(name)) return;
  const hint = `a tool has no : in its name; the other operations are ${OTHERS.join(", ")}`;
  throw usageError(problem, didYouMean(name, OTHERS, hint));
}
