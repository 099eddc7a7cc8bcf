import { revocableKeyIds } from "../src/capability/key-id.js";
import type { MintedCapability, MintRequest } from "../src/capability/mint.js";
import type { Hop } from "../src/caveats/hop.js";
import { emptyRules, meet } from "../src/caveats/meet.js";
import { authoritiesOver, deadArguments } from "../src/caveats/operation-authority.js";
import { parseTime, readDuration } from "../src/caveats/time.js";
import type { Home } from "../src/home/open-home.js";
import { asUsage, CliError, EXIT, usageError } from "./exit.js";
import { quoted } from "./output.js";
import { flagOf, withinSize } from "./restrictions.js";

/**
 * Mints a capability from the flags of a verb.
 *
 * @throws CliError if the request is not valid, allows nothing, or would be revoked from the start.
 */
export function mintCapability(
  request: MintRequest,
  { issuer, revocations, files }: Pick<Home, "issuer" | "revocations" | "files">,
): MintedCapability {
  const { expires, operations, anyOperation } = request;
  if (operations !== undefined && anyOperation === true) {
    throw usageError("--op and --any-op exclude each other", "give one of them");
  }
  if (operations === undefined && anyOperation === undefined && issuer.grants === undefined) {
    throw usageError(
      "no operation is named, and this home does not list its grants",
      "name operations with --op, or allow every one with --any-op; " +
        `a list of the grants goes into "grants" in ${files.config}`,
    );
  }
  const now = Date.now();
  const seconds = typeof expires === "string" ? readDuration(expires) : undefined;
  const end = expires instanceof Date ? expires.getTime() : now + (seconds ?? 0) * 1000;
  const tooLong = end > now + issuer.maxLifetime * 1000;
  const longest = tooLong ? `"maxLifetime" in ${files.config} sets the longest life` : undefined;
  const named = expires === undefined ? "the token's end," : flagOf("expires");
  const inFlags = (message: string): string =>
    message
      .replace(/^expires(?= \d)/, flagOf("expires"))
      .replace(/^notBefore(?= \d)/, flagOf("notBefore"))
      .replace(/(?<= is not before )expires(?= \d)/, named);
  const minted = withinSize(
    () => asUsage(() => issuer.mint(request), longest, inFlags),
    "the grant and its restrictions",
    "--grant, --principal, --purpose",
  );
  const empty = emptyRules(meet({}, minted.hop, 0));
  if (empty.length > 0) {
    throw usageError(
      `these limits contradict each other (${empty.join(", ")}): nothing is allowed`,
    );
  }
  // Refuse to print a token that an existing revocation already covers.
  const [entry] = revocations.find({
    links: [],
    capability: minted.id,
    keys: revocableKeyIds(minted.keyId),
    issued: parseTime(minted.issued) ?? 0,
    principal: request.principal,
  });
  if (entry === undefined) return minted;
  const [message, hint] =
    entry.kind === "key"
      ? [`the key that mints, ${entry.id}, is revoked`, "proviso keys rotate makes a new one"]
      : ["the tokens of this principal were revoked within this second", "try again in a second"];
  throw new CliError({ code: "revoked", message, exitCode: EXIT.revoked, hint });
}

/** Returns a note about each operation of which a new token allows no call, because its limits contradict each other. */
export function deadOperationNotes(hop: Hop): readonly string[] {
  const authority = meet({}, hop, 0);
  const { operations, operationConstraints = {}, arguments: lists = {} } = authority;
  const named = operations ?? [...Object.keys(operationConstraints), ...Object.keys(lists)];
  const over = authoritiesOver(authority);
  return [...new Set(named)].flatMap((operation) => {
    const dead = deadArguments(over(operation));
    if (dead.length === 0) return [];
    const what = `note: no call of ${quoted(operation)} is allowed`;
    return [`${what}: the limits leave no value for ${dead.map(quoted).join(", ")}`];
  });
}
