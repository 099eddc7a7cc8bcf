import type { Command } from "commander";
import { isCapabilityId } from "../../src/capability/identifier.js";
import { formatTime } from "../../src/caveats/time.js";
import type { Home } from "../../src/home/open-home.js";
import { latestExpiry } from "../../src/issuer/token-revocation.js";
import type { RevocationEntry } from "../../src/revocation/entry.js";
import { isRevocationId } from "../../src/revocation/id.js";
import type { Context } from "../context.js";
import { CliError, usageError } from "../exit.js";
import { addDatabase, type HomeChoice, withHome } from "../home.js";
import { printAnswer, printable, quoted, say } from "../output.js";
import { adviceForDenial, exitForDenial } from "../refusal.js";
import { readTokenArgument } from "../token-argument.js";
import { unknownKey } from "../unknown-name.js";
import { act, addExamples, toText } from "../verb.js";

interface Options extends HomeChoice {
  readonly id?: string;
  readonly capability?: string;
  readonly principal?: string;
  readonly key?: string;
  readonly reason?: string;
}

/** The entry to add to the revocation list, and a description of its effect. */
interface Revocation {
  readonly entry: RevocationEntry;
  readonly effect: string;
  readonly note?: string;
  /** The reason for which the list needs no entry. */
  readonly needless?: "revoked" | "expired";
}

export function define(program: Command, context: Context): void {
  const command = program
    .command("revoke")
    .summary("revoke a token, or more")
    .description(
      "Revokes exactly one of: a token with all that was narrowed from it, a revocation id, a " +
        "capability, a principal's tokens up to now, or a key's. Revoking twice does no harm.",
    )
    .argument(
      "[token]",
      "the token, a revocation id or a capability's id; @FILE; or - for standard input",
    )
    .option("--id <rv>", "a revocation id, as inspect shows it", toText)
    .option("--capability <id>", "a capability's id, with all that was narrowed from it", toText)
    .option("--principal <user>", "a user: all tokens issued for them up to now", toText)
    .option("--key <kid>", "a key's id: all tokens made under it", toText)
    .option("--reason <text>", "why; shown only to you", toText)
    .action(act(context, run));
  addDatabase(command);
  addExamples(command, [
    "proviso revoke @narrowed --reason 'task done'",
    "proviso revoke --id \"$(proviso inspect @token | awk '/^revocation id/ { print $3 }')\"",
    "proviso revoke --principal user_7",
    "proviso revocations list",
  ]);
}

async function run(context: Context, given: Options, argument?: string): Promise<void> {
  checkOneTarget(argument, given);
  const text = isNamed(given) ? undefined : readTarget(context, argument);
  const options = { ...given, ...(text === undefined ? {} : idIn(text)) };
  checkIds(options, text === undefined);
  const token = isNamed(options) ? undefined : text;
  await withHome(context, options, async (home) => {
    const now = Date.now();
    const revocation =
      token === undefined ? fromName(options, home, now) : fromToken(token, options.reason, home);
    const { entry, effect, note, needless } = revocation;
    const addition = needless === undefined ? await home.revocations.add(entry) : "known";
    const expired = needless === "expired";
    const already = addition === "known" && !expired;
    const line = expired
      ? `nothing to revoke: the token expired at ${entry.until}`
      : `${already ? "already revoked" : "revoked"} ${entry.id}: ${effect}`;
    const document = { revoked: entry, already, expired, effect, note };
    printAnswer(context, options, document, [printable(line)]);
    if (note !== undefined && options.json !== true) say(context, printable(`note: ${note}`));
  });
}

/** Returns true if an option names the object to revoke. */
function isNamed({ id, capability, principal, key }: Options): boolean {
  return (id ?? capability ?? principal ?? key) !== undefined;
}

/** Converts an id in the place of a token to the corresponding option. */
function idIn(text: string): Pick<Options, "id" | "capability"> {
  if (text.startsWith("rv_")) return { id: text };
  return text.startsWith("cap_") ? { capability: text } : {};
}

/**
 * Returns the token to revoke, from the argument or standard input.
 *
 * @throws CliError if there is none.
 */
function readTarget(context: Context, argument: string | undefined): string {
  if (argument !== undefined) return readTokenArgument(context, argument);
  const token = context.stdin.isTerminal ? "" : readTokenArgument(context, argument);
  if (token !== "") return token;
  throw usageError("name one: a token, --id, --capability, --principal or --key");
}

function checkOneTarget(argument: string | undefined, options: Options): void {
  const { id, capability, principal, key } = options;
  const byName = { "--id": id, "--capability": capability, "--principal": principal, "--key": key };
  const named = Object.entries({ "a token": argument, ...byName });
  const given = named.filter(([, value]) => value !== undefined).map(([name]) => name);
  if (given.length > 1) {
    throw usageError(`revoke one thing at a time, not ${given.join(" and ")}`);
  }
}

/** @param isFlag - True if the id is the value of an option, which the error then names. */
function checkIds({ id, capability }: Options, isFlag: boolean): void {
  if (id !== undefined && !isRevocationId(id)) {
    const hint = "it is rv_ and 22 characters, as proviso inspect shows it";
    throw usageError(`${isFlag ? "--id " : ""}${quoted(id)} is not a revocation id`, hint);
  }
  if (capability !== undefined && !isCapabilityId(capability)) {
    const hint = "it is cap_ and 16 characters or more, as proviso inspect shows it";
    throw usageError(
      `${isFlag ? "--capability " : ""}${quoted(capability)} is not a capability's id`,
      hint,
    );
  }
}

function fromToken(token: string, reason: string | undefined, { issuer }: Home): Revocation {
  const result = issuer.revocationOf(token, reason);
  if (!result.ok) {
    const { code, message } = result.denial;
    const hint = adviceForDenial(result.denial);
    throw new CliError({ code, message, exitCode: exitForDenial(code), hint });
  }
  const { entry, capability, whole, needless } = result;
  const effect = whole
    ? `the whole capability ${capability}, with everything narrowed from it`
    : "this token and everything narrowed from it; its parent and its siblings live on";
  return { entry, effect, needless };
}

function fromName(options: Options, { keys: present }: Home, now: number): Revocation {
  const keys = present();
  const { id, capability, principal, key, reason } = options;
  const at = formatTime(now);
  const shared = { at, reason };
  const until = latestExpiry(now);
  if (id !== undefined) {
    const effect = "the token with this id and everything narrowed from it";
    return { entry: { kind: "link", id, until, ...shared }, effect };
  }
  if (capability !== undefined) {
    const effect = "the whole capability, with everything narrowed from it";
    return { entry: { kind: "capability", id: capability, until, ...shared }, effect };
  }
  if (principal !== undefined) {
    // Timestamps in tokens are whole seconds. The next second is later than every token issued until now.
    const before = formatTime(now + 1000);
    const effect = `all tokens of this principal issued before ${before}, the grants of its agents, and pending approvals; later tokens stay valid`;
    return { entry: { kind: "principal", id: principal, before, until, ...shared }, effect };
  }
  const kid = key ?? "";
  if (keys.find(kid) === undefined) throw unknownKey(kid, keys);
  const revocation = {
    entry: { kind: "key", id: kid, ...shared },
    effect: "all tokens made under this key",
  } as const;
  if (kid !== keys.minting.kid) return revocation;
  const note = "this is the key that mints; run proviso keys rotate before you mint again";
  return { ...revocation, note };
}
