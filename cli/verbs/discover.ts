import { readFileSync } from "node:fs";
import { type Command, Option } from "commander";
import { readJwkSet } from "../../src/auth/key-source.js";
import type { JsonObject } from "../../src/bytes/json.js";
import { ClientError } from "../../src/client/client-error.js";
import { parseCard } from "../../src/discovery/card-text.js";
import {
  type DiscoveryDenial,
  type DiscoveryLink,
  fetchDenial,
} from "../../src/discovery/denial.js";
import type { Discovery, UsableAgent } from "../../src/discovery/discovery.js";
import { endToEnd } from "../../src/discovery/link.js";
import { discoverChain, type LiveChain } from "../../src/discovery/live-chain.js";
import {
  BINDINGS,
  type Binding,
  type DiscoveryRequirements,
  type GrantRequirement,
  settleRequirements,
} from "../../src/discovery/requirements.js";
import { type DiscoverOptions, safeDiscover } from "../../src/discovery/safe-discover.js";
import { errorCode, isErrno, reasonFor } from "../../src/system/error-code.js";
import { CARD_HELP, type CardText, cardFileText, isAddress } from "../card/text.js";
import { absolutePath, type Context } from "../context.js";
import { asUsage, EXIT, environmentError, usageError } from "../exit.js";
import {
  type Paint,
  printAnswer,
  printable,
  type Row,
  renderRows,
  stdoutPaint,
} from "../output.js";
import { advised, denialLines, exitForDiscovery, warningLines } from "../remote/discovery.js";
import { addCardOptions, type CardOptions, DEFAULT_TIMEOUT } from "../remote/options.js";
import { act, addExamples, collect, toText } from "../verb.js";

interface Options extends CardOptions {
  readonly require?: readonly string[];
  readonly endToEnd?: readonly string[];
  readonly grant?: readonly string[];
  readonly attenuable?: boolean;
  readonly protocol?: string;
  readonly binding?: Binding;
  readonly allowLegacy?: boolean;
  /** False if `--no-deprecated` is given. */
  readonly deprecated: boolean;
  readonly requireSignature?: boolean;
  readonly trustedKey?: readonly string[];
  readonly jwks?: string;
  readonly allowHost?: readonly string[];
  readonly chain?: boolean;
}

export function define(program: Command, context: Context): void {
  const command = program
    .command("discover")
    .summary("judge by its card whether an agent can do a task")
    .description(
      "Fetches an agent's card, or reads it from a file, and judges whether the agent can be given a task: what it declares, " +
        "its grants, its protocol version, its signatures; and, with --chain, the agents that it " +
        "delegates to. Says usable, or refused with every reason. Sends nothing but the request for " +
        "the card, and no token. Ends with 0 if the agent is usable, 1 if it is refused, 6 if its " +
        "card could not be fetched.",
    )
    .argument("<card>", CARD_HELP)
    .option(
      "--require <capability>",
      "a capability that the card must declare; repeat. One that holds only as far as every delegate " +
        "has it, context_reuse, implies --chain",
      collect,
    )
    .option(
      "--end-to-end <capability>",
      "one that every agent in the chain must declare; repeat. Goes with --chain, and implies it",
      collect,
    )
    .option(
      "--grant <grant:operation>",
      "an operation of a grant that the agent must offer; repeat. What follows the last colon is the " +
        "operation, as grants have colons of their own: documents:read:retrieve; and " +
        "documents:read:* for the grant with any",
      collect,
    )
    .option("--attenuable", "those grants must allow to be narrowed and passed on")
    .option("--protocol <version>", "the protocol version that you speak; 1.0 unless given", toText)
    .addOption(
      new Option("--binding <name>", "how you talk to it; any unless given").choices(BINDINGS),
    )
    .option("--allow-legacy", "accept a legacy grant, which promises less than a capability")
    .option("--no-deprecated", "refuse capabilities that are deprecated")
    .option("--require-signature", "the card must be signed by a key that you trust")
    .option("--trusted-key <file>", "a public key, as JWK or JWK Set; repeat", collect)
    .option("--jwks <url>", "the address of a JWK Set that you trust", toText)
    .option(
      "--allow-host <host:port>",
      "a place in a private network that a card may lead to; repeat. The agent's own is allowed",
      collect,
    )
    .option("--chain", "judge the agents that it delegates to as well, and so on");
  addCardOptions(command).action(act(context, run));
  addExamples(command, [
    "proviso discover http://127.0.0.1:8080 --grant documents:read:retrieve --attenuable",
    "proviso discover https://agent.example --require push_notifications --protocol 1.0 --json",
    "proviso discover https://agent.example --end-to-end context_reuse --require-signature --trusted-key agent.jwk",
  ]);
}

async function run(context: Context, options: Options, argument: string): Promise<void> {
  const requirements = requirementsFrom(options);
  const access = accessFrom(context, options);
  const found = await discovered(
    () => (isAddress(argument) ? argument : cardIn(cardFileText(context, argument))),
    requirements,
    access,
    options.chain === true,
  );
  const exitCode = found.ok ? EXIT.done : exitForDiscovery(found.denials);
  context.exitCode = exitCode;
  const paint = stdoutPaint(context);
  const { warnings } = found;
  if (!found.ok) {
    const { denials } = found;
    const link = "link" in found ? { link: found.link } : {};
    const document = { usable: false, denials: advised(denials), ...link, warnings, exitCode };
    const lines = refusedLines(denials, paint);
    return printAnswer(context, options, document, [...lines, ...warningLines(warnings, paint)]);
  }
  const agent = "agent" in found ? found.agent : found;
  const links = "links" in found ? found.links : undefined;
  const { card, interface: chosen, version } = agent;
  const document = {
    usable: true,
    name: card.name,
    interface: chosen,
    version,
    chain: links,
    warnings,
    exitCode,
  };
  const lines = usableLines(agent, links, paint);
  printAnswer(context, options, document, [...lines, ...warningLines(warnings, paint)]);
}

function cardIn({ name, text }: CardText): JsonObject {
  return parseCard(text, name);
}

/**
 * Discovers an agent.
 *
 * @throws CliError if an option is invalid.
 */
async function discovered(
  card: () => string | JsonObject,
  requirements: DiscoveryRequirements,
  access: DiscoverOptions,
  asked: boolean,
): Promise<Discovery | LiveChain> {
  try {
    const followed = asked || endToEnd(settleRequirements(requirements)).length > 0;
    const place = card();
    if (followed) return await discoverChain(place, requirements, access);
    return await safeDiscover(place, requirements, access);
  } catch (error) {
    // A file without a card has the same result as a URL without a card.
    if (error instanceof ClientError && error.code !== "address_invalid") {
      return { ok: false, denials: [fetchDenial(error)], warnings: [] };
    }
    if (!(error instanceof TypeError)) throw error;
    const isName = /no capability is called/.test(error.message);
    const hint = isName ? "proviso card registry lists them" : undefined;
    throw usageError(error.message.replace(/^(options|requirements)\./, ""), hint);
  }
}

function requirementsFrom(options: Options): DiscoveryRequirements {
  const { protocol, require: capabilities, endToEnd, binding, grant } = options;
  return {
    protocolVersion: protocol,
    capabilities,
    endToEnd,
    binding,
    ...(grant === undefined ? {} : { grants: grantsFrom(grant, options.attenuable === true) }),
    allowLegacy: options.allowLegacy === true,
    allowDeprecated: options.deprecated,
    requireSignature: options.requireSignature === true,
  };
}

function grantsFrom(texts: readonly string[], attenuable: boolean): readonly GrantRequirement[] {
  const found = new Map<string, string[]>();
  for (const text of texts) {
    const at = text.lastIndexOf(":");
    const [grant, operation] = [text.slice(0, at), text.slice(at + 1)];
    if (at < 1 || operation === "" || !grant.includes(":")) {
      const hint = "write GRANT:OPERATION, such as documents:read:retrieve, or documents:read:*";
      throw usageError(`--grant ${text.slice(0, 80)} names no operation of a grant`, hint);
    }
    found.set(grant, [...(found.get(grant) ?? []), ...(operation === "*" ? [] : [operation])]);
  }
  return [...found].map(([grant, operations]) => ({ grant, operations, attenuable }));
}

function accessFrom(context: Context, options: Options): DiscoverOptions {
  const { trustedKey = [], jwks, allowHost = [], insecure } = options;
  return {
    trustedKeys: trustedKey.flatMap((path) => keysIn(absolutePath(context, path))),
    allowHosts: allowHost,
    timeout: options.timeout ?? DEFAULT_TIMEOUT,
    insecure,
    jwksUrl: jwks,
  };
}

function keysIn(path: string): NonNullable<DiscoverOptions["trustedKeys"]> {
  const text = keyText(path);
  const isSet = /"keys"\s*:/.test(text);
  return asUsage(() => readJwkSet(isSet ? text : `{"keys":[${text}]}`).keys, `check ${path}`);
}

function keyText(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    if (!isErrno(error)) throw error;
    const hint = "--trusted-key names a file with a public key, as JWK or JWK Set";
    throw environmentError(
      "key_unreadable",
      `${path}: ${reasonFor(errorCode(error), "read")}`,
      hint,
    );
  }
}

function refusedLines(denials: readonly DiscoveryDenial[], paint: Paint): string[] {
  const count = denials.length;
  const why = count === 1 ? "for one reason" : `for ${count} reasons`;
  return [`${paint.red("refused")}, ${why}`, ...denialLines(denials, paint)];
}

function usableLines(
  { card, interface: chosen, version }: UsableAgent,
  links: readonly DiscoveryLink[] | undefined,
  paint: Paint,
): string[] {
  const rows: Row[] = [
    ["agent", printable(card.name)],
    ["interface", printable(`${chosen.binding} ${chosen.url}`)],
    ["version", version],
  ];
  for (const { index, url = "" } of links?.slice(1) ?? [])
    rows.push([`link ${index}`, printable(url)]);
  return [paint.green("usable"), ...renderRows(rows, paint, "  ")];
}
