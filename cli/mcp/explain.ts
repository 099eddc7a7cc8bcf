import type { Command } from "commander";
import type { JsonObject } from "../../src/bytes/json.js";
import { type InspectionWarning, inspect } from "../../src/capability/inspect.js";
import type { Authority } from "../../src/caveats/authority.js";
import { meetOf } from "../../src/caveats/meet.js";
import { schemaWithin } from "../../src/caveats/narrowed-schema.js";
import {
  authoritiesOver,
  deadArguments,
  type OperationAuthority,
} from "../../src/caveats/operation-authority.js";
import { isHandle } from "../../src/issuer/handle.js";
import { isToolName, OPERATIONS } from "../../src/protocols/mcp/gate/methods.js";
import type { Context } from "../context.js";
import { usageError } from "../exit.js";
import { seenFromNow } from "../moment.js";
import {
  printAnswer,
  printable,
  quoted,
  type Row,
  renderRows,
  say,
  stdoutPaint,
} from "../output.js";
import { assertPresentable, readTokensArgument } from "../token-argument.js";
import { operationTexts } from "../token-words.js";
import { didYouMean } from "../unknown-name.js";
import { addExamples, collect, type GlobalOptions, toText } from "../verb.js";
import { assertServerName } from "./gate-names.js";
import { offerOf, type ServerOffer } from "./server-offer.js";

interface Options extends GlobalOptions {
  readonly token?: readonly string[];
  readonly upstream?: string;
  readonly server?: string;
}

/** One operation in the answer, as one or more rows of the table. */
interface Entry {
  readonly name: string;
  readonly operation: string;
  readonly left: Left;
  /** The word for an operation that the token does not allow. */
  readonly refused: "hidden" | "refused";
}

/** The calls of an operation that the tokens allow, or the reason why they allow none. */
type Left =
  | {
      readonly allowed: true;
      readonly authority: OperationAuthority;
      /** Handles, of which the arguments of a call must name at least one; `undefined` if they need not name any. */
      readonly resourceHandles: readonly string[] | undefined;
    }
  | { readonly allowed: false; readonly reason: string };

/** Adds `proviso mcp explain`. */
export function defineExplain(mcp: Command, context: Context): void {
  const command = mcp
    .command("explain")
    .description(
      "Shows, as a table, what a token leaves of a server's tools: those that a gate hides, and with which " +
        "arguments a gate lets the others be called. Starts the server, asks it for its tools and ends it. " +
        "Several tokens must all allow a call. Needs no home, and verifies nothing.",
    )
    .argument("[command...]", "the server's command, behind --")
    .option("--token <token>", "a token, or @FILE; repeat for more (env: PROVISO_TOKEN)", collect)
    .option("--upstream <url>", "the address of a server over HTTP, instead of a command", toText)
    .option("--server <name>", "the server's name, behind a gate that has several", toText)
    .action((words: readonly string[], _options: object, self: Command) =>
      run(context, words, self.optsWithGlobals<Options>()),
    );
  addExamples(command, [
    "proviso mcp explain --token @files.token -- npx -y @modelcontextprotocol/server-filesystem /data",
    "proviso mcp explain --token @files.token --upstream http://127.0.0.1:3000/mcp --json",
  ]);
}

async function run(context: Context, words: readonly string[], options: Options): Promise<void> {
  assertServerName("--server", options.server);
  const server = serverFrom(words, options);
  const held = heldAuthority(context, options);
  const { authority, refusal } = held;
  const offer = await offerOf(context, server);
  const left = leftBy(held);
  const nameOf = (operation: string): string =>
    options.server === undefined ? operation : `${options.server}/${operation}`;
  const tools = offer.tools.map(({ name, inputSchema }) => {
    const operation = nameOf(name);
    const own = isToolName(name) ? left(operation) : HIDDEN_NAME;
    return { name, operation, left: own, refused: "hidden" as const, inputSchema };
  });
  const others = otherOperations(offer).map((name) => {
    const operation = nameOf(name);
    return { name: operation, operation, left: left(operation), refused: "refused" as const };
  });
  const entries: readonly Entry[] = [...tools, ...others];
  const known = entries.map(({ operation }) => operation);
  const foreign = (authority.operations ?? []).filter((operation) => !known.includes(operation));
  const document = {
    server: offer.title,
    expires: authority.expires,
    audience: authority.audience,
    refusal,
    tools: tools.map(({ name, operation, inputSchema, left: own }) => ({
      name,
      operation,
      ...documentOf(own, inputSchema),
    })),
    others: others.map(({ operation, left: own }) => ({ operation, ...documentOf(own) })),
    foreign,
  };
  const shown = tools.filter((tool) => tool.left.allowed).length;
  const end = authority.expires;
  printAnswer(context, options, document, [
    `${printable(offer.title)}: ${shown} of ${tools.length} tools are shown`,
    end === undefined
      ? "The token has no end."
      : `The token ends ${seenFromNow(end, Date.now())} (${end}).`,
    ...(refusal === undefined ? [] : [printable(`A gate refuses every call: ${refusal}.`)]),
    ...(authority.audience === undefined ? [] : [audienceLine(authority.audience)]),
    "",
    ...renderRows(entries.flatMap(rowsOf), stdoutPaint(context)),
    ...foreign.map((operation) => foreignLine(operation, known)),
  ]);
}

function foreignLine(operation: string, known: readonly string[]): string {
  const hint = didYouMean(operation, known);
  const line = `The token also has ${quoted(operation)}, which this server does not`;
  return hint === undefined ? `${line}.` : `${line}; ${hint}`;
}

function audienceLine(audience: readonly string[]): string {
  const names = audience.map(quoted).join(" or ");
  return `The gate's audience must be ${names}: its --audience or, without this option, its issuer.`;
}

function serverFrom(
  [command, ...args]: readonly string[],
  { upstream }: Options,
): readonly [string, ...string[]] | URL {
  if (upstream !== undefined && command !== undefined) {
    throw usageError("--upstream and a command exclude each other", "give one of them");
  }
  if (command !== undefined) return [command, ...args];
  if (upstream === undefined) {
    throw usageError(
      "no server is named",
      "write its command behind --, or its address: --upstream URL",
    );
  }
  const url = URL.canParse(upstream) ? new URL(upstream) : undefined;
  if (url !== undefined && /^https?:$/.test(url.protocol)) return url;
  const hint = "write it like http://127.0.0.1:3000/mcp";
  throw usageError(`--upstream ${quoted(upstream)} is not the address of a server`, hint);
}

/** The calls that the tokens allow together. */
interface Held {
  /** The authority that all hops of all tokens have in common. */
  readonly authority: Authority;
  /** The reason why a gate refuses every call with these tokens, if there is one. */
  readonly refusal: string | undefined;
}

function heldAuthority(context: Context, { token }: Options): Held {
  const { PROVISO_TOKEN: variable } = context.env;
  const given = token ?? (variable ? [variable] : []);
  if (given.length === 0)
    throw usageError("no token is given", "give --token @FILE, or set PROVISO_TOKEN");
  const inspections = given.flatMap((argument) => {
    const tokens = readTokensArgument(context, argument);
    assertPresentable(argument, tokens);
    return tokens.map((token) => inspect(token));
  });
  for (const { warnings } of inspections) {
    for (const { code, message } of warnings) {
      // No warning about a long expiry, because the configuration of a host names the same token for weeks.
      if (code !== "long_expiry") say(context, `warning: ${printable(message)}`);
    }
  }
  const macaroons = inspections.flatMap((one) => [one, ...one.discharges]);
  const authority = meetOf(macaroons.map(({ links }) => links.map((link) => link.hop)));
  const warnings = inspections.flatMap((one) => one.warnings);
  return { authority, refusal: refusalOf(authority, warnings) };
}

/** Codes of warnings about a token. If a token has one of these, a gate refuses every call with the token. */
const REFUSED: ReadonlySet<string> = new Set<InspectionWarning["code"]>([
  "not_a_capability",
  "unreadable_caveat",
  "no_expiry",
  "expired",
  "not_yet_valid",
  "discharge_needed",
  "over_limit",
]);

function refusalOf(
  { invokers, audience }: Authority,
  warnings: readonly InspectionWarning[],
): string | undefined {
  const warning = warnings.find(({ code }) => REFUSED.has(code));
  if (warning !== undefined) return warning.message;
  if (audience?.length === 0) return "the tokens have no audience in common";
  if (invokers === undefined) return undefined;
  const agents = invokers.map(quoted).join(", ") || "no agent";
  return `the token is for calls by ${agents}, and a call through a gate names no agent`;
}

function leftBy({ authority, refusal }: Held): (operation: string) => Left {
  const { operations, resourceHandles } = authority;
  const over = authoritiesOver(authority);
  return (operation) => {
    if (refusal !== undefined) return { allowed: false, reason: "the token allows no call" };
    return operations?.includes(operation) === false
      ? { allowed: false, reason: "the token does not have this operation" }
      : { allowed: true, authority: over(operation), resourceHandles };
  };
}

const HIDDEN_NAME: Left = {
  allowed: false,
  reason: "a gate takes no tool with : or / in its name",
};

/** Returns the operations, other than tools, that are useful with this server. */
function otherOperations({
  hasResources,
  hasPrompts,
  hasCompletions,
}: ServerOffer): readonly string[] {
  const { read, subscribe, prompt, complete, sample, elicit, roots } = OPERATIONS;
  return [
    ...(hasResources ? [read, subscribe] : []),
    ...(hasPrompts ? [prompt] : []),
    ...(hasCompletions ? [complete] : []),
    sample,
    elicit,
    roots,
  ];
}

function rowsOf({ name, left, refused }: Entry): readonly Row[] {
  const [first = "", ...others] = left.allowed ? textsOf(left) : [`${refused}: ${left.reason}`];
  return [[printable(name), first], ...others.map((text): Row => ["", text])];
}

function textsOf({
  authority,
  resourceHandles: handles,
}: Extract<Left, { readonly allowed: true }>): readonly string[] {
  const refused = "shown, but every call is refused";
  const dead = deadArguments(authority);
  if (dead.length > 0) return [`${refused}: no value is left for ${dead.map(quoted).join(", ")}`];
  if (handles?.some(isHandle) === false) {
    const names = handles.map(quoted).join(", ") || "none";
    return [`${refused}: no argument can name the token's resources (${names})`];
  }
  const named = handles === undefined ? [] : [`an argument names ${handles.join(" or ")}`];
  const texts = [...operationTexts(authority), ...named];
  return texts.length === 0 ? ["any arguments"] : texts;
}

function documentOf(left: Left, inputSchema?: JsonObject): object {
  if (!left.allowed) return { hidden: true, reason: left.reason };
  const { authority, resourceHandles } = left;
  const { limited, closed } = authority;
  return {
    hidden: false,
    resourceHandles,
    limits: operationTexts({ limited }),
    only: closed,
    inputSchema: inputSchema && schemaWithin(inputSchema, authority),
  };
}
