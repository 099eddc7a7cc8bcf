import type { Json } from "../../src/bytes/json.js";
import {
  type DiscoveryCode,
  type DiscoveryDenial,
  type DiscoveryWarning,
  isUnreached,
} from "../../src/discovery/denial.js";
import { CliError, EXIT, type ExitCode } from "../exit.js";
import { type Paint, printable } from "../output.js";

const ADVICE: { readonly [Code in DiscoveryCode]?: string } = {
  card_malformed: "proviso card lint shows where",
  capability_undeclared: "proviso card shows what the agent declares",
  capability_deprecated: "leave --no-deprecated out, or require what supersedes it",
  grant_missing: "proviso card shows the agent's grants",
  grant_operation_missing: "proviso card shows the grant's operations",
  legacy_only: "--allow-legacy accepts that it promises less",
  interface_unsupported: "proviso card shows what it speaks",
  signature_invalid: "do not use it: someone has changed the card, or signed another one",
  signature_missing: "leave --require-signature out, or ask its operator to sign the card",
  signature_untrusted: "--trusted-key or --jwks names the keys that you trust",
  chain_unknown:
    'its operator says to whom it delegates: "delegates" in the configuration of proviso serve, or in the ' +
    "card's params; [] if to no agent",
  card_unreachable: "check the address, and that the agent is running",
  card_timeout: "try again, or wait longer: --timeout 1m",
  address_invalid:
    "write it whole: https://agent.example, or http://127.0.0.1:8080 on this machine",
  address_refused: "if you trust that place, allow it: --allow-host HOST:PORT",
};

/** Returns the hint for one reason; `undefined` if the message already names the nearest value. */
function adviceOn({ code, rule, nearest, actual }: DiscoveryDenial): string | undefined {
  if (code === "version_incompatible") return versionAdvice(actual);
  if (rule === "address_insecure") return "--insecure allows plain http to other machines";
  return code === "legacy_only" && nearest !== undefined ? undefined : ADVICE[code];
}

/**
 * Returns the hint that names the version to request: the card's version, such as `0.3`, or the end of a range
 * such as `1.0 to 1.2`.
 */
function versionAdvice(actual: Json | undefined): string {
  const [first] = [actual].flat();
  const version = typeof first === "string" ? first.match(/\d+\.\d+/g)?.at(-1) : undefined;
  return version === undefined
    ? "proviso card lint shows what the card has to say, for its operator to add"
    : `--protocol ${version} asks for what it speaks, if you speak it too`;
}

/** Returns the error for an agent whose card was refused before anything was sent to the agent. */
export function refusedAgent(name: string, denials: readonly DiscoveryDenial[]): CliError {
  const [first] = denials;
  const code = first?.code ?? "card_malformed";
  return new CliError({
    code,
    message: `${name} is not called: its card does not hold what a call needs`,
    exitCode: exitForDiscovery(denials),
    hint: first === undefined ? undefined : adviceOn(first),
    details: { problems: denials },
  });
}

/** Returns the exit code of a refusal: `environment` if the card could not be fetched, otherwise `refused`. */
export function exitForDiscovery(denials: readonly DiscoveryDenial[]): ExitCode {
  return isUnreached(denials) ? EXIT.environment : EXIT.refused;
}

/** Formats reasons, each on its own line, with their hints. */
export function denialLines(denials: readonly DiscoveryDenial[], paint: Paint): string[] {
  const advised = new Set<string>();
  return denials.flatMap((denial) => {
    const hint = adviceOn(denial);
    const lines = [`  ${paint.bold(denial.code)}  ${sentence(denial)}`];
    if (hint === undefined || advised.has(hint)) return lines;
    advised.add(hint);
    return [...lines, paint.dim(`    ${hint}`)];
  });
}

/** Formats warnings, one per line. */
export function warningLines(warnings: readonly DiscoveryWarning[], paint: Paint): string[] {
  return warnings.map((one) => `  ${paint.yellow(one.code)}  ${sentence(one)}`);
}

function sentence({ message, nearest, link }: DiscoveryWarning): string {
  const near = nearest === undefined ? "" : ` (nearest: ${nearest})`;
  const where = link === undefined ? "" : ` [link ${link.index}${linkUrl(link.url)}]`;
  return printable(`${message}${near}${where}`);
}

function linkUrl(url: string | undefined): string {
  return url === undefined ? "" : `, ${url}`;
}

/** Formats the reasons for `--json`. */
export function advised(denials: readonly DiscoveryDenial[]): readonly object[] {
  return denials.map((denial) => ({ ...denial, hint: adviceOn(denial) }));
}
