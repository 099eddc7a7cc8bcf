import { bytesToHex } from "@noble/hashes/utils.js";
import { encodeBase64url } from "../bytes/base64.js";
import { TokenError } from "../bytes/token-error.js";
import { decodeUtf8 } from "../bytes/utf8.js";
import type { Authority } from "../caveats/authority.js";
import type { Hop } from "../caveats/hop.js";
import { type HopProblem, MAX_REPORTED } from "../caveats/hop-rule.js";
import { emptyRules, meetOf } from "../caveats/meet.js";
import { prefixesOfPaths } from "../caveats/operation-mistakes.js";
import { readHop } from "../caveats/read-hop.js";
import { parseTime } from "../caveats/time.js";
import { assertString } from "../checks/kinds.js";
import { knownMembers } from "../checks/members.js";
import { binaryV2Length } from "../macaroon/binary-v2.js";
import { type Macaroon, partsOf } from "../macaroon/macaroon.js";
import { type MacaroonFormat, readMacaroons } from "../macaroon/read.js";
import { revocationIdOf } from "../revocation/id.js";
import { decodeIdentifier, type Identifier } from "./identifier.js";
import { readServiceKeyId } from "./key-id.js";
import { CAPABILITY_LIMITS, overCapabilityLimits } from "./limits.js";

export interface InspectOptions {
  /** The time for judging expiry, in milliseconds since 1970; by default, the current time. */
  readonly now?: number;
}

/**
 * Reads the contents of a token without a key and without verifying anything. Works for any macaroon: caveats
 * that are not hops are returned as bytes.
 *
 * @throws TokenError if the token is not a well-formed macaroon.
 * @throws TypeError if the token is not a string, or an option is not valid.
 *
 * @example
 * ```ts
 * import { inspect } from "proviso";
 *
 * const inspection = inspect("AgIBYQAABiDy1zQRnrm14nj2Sbcnq5xpVI7Hw9j8NPgiov7aWHLqzA");
 * inspection.identifier.text; // => "a"
 * inspection.warnings.map((warning) => warning.code); // => ["not_a_capability"]
 * ```
 */
export function inspect(token: string, options: InspectOptions = {}): Inspection {
  assertString(token, "token");
  const { now = Date.now() } = knownMembers(options, ["now"], "options");
  if (!Number.isFinite(now)) throw new TypeError("options.now must be milliseconds since 1970");
  const { format, macaroons } = readMacaroons(token);
  const [root, ...others] = macaroons;
  const own = inspectMacaroon(root);
  const discharges = others.map(inspectMacaroon);
  const authority = meetOf([own, ...discharges].map(({ links }) => links.map((link) => link.hop)));
  const capability = capabilityOf(root);
  const service = readServiceKeyId(capability?.kid ?? "")?.service;
  const bytes = macaroons.reduce((sum, macaroon) => sum + binaryV2Length(macaroon), 0);
  const inspection: Omit<Inspection, "warnings"> = {
    verified: false,
    format,
    bytes,
    ...own,
    ...(capability === undefined ? {} : { grant: capability.grant, capability }),
    ...(service === undefined ? {} : { service }),
    authority,
    revocationId: revocationIdOf(partsOf(root).signature),
    discharges,
  };
  const over = overCapabilityLimits(macaroons, CAPABILITY_LIMITS);
  const warnings = warningsFor(inspection, over?.message, now);
  return { ...inspection, warnings };
}

function inspectMacaroon(macaroon: Macaroon): InspectedMacaroon {
  const { location, identifier, caveats } = partsOf(macaroon);
  const links = caveats.map((caveat, at): InspectedLink => {
    const number = at + 1;
    const raw = rawBytes(caveat.identifier);
    if (caveat.kind === "third-party") {
      const link = { number, kind: "third-party", raw } as const;
      return caveat.location === undefined ? link : { ...link, location: caveat.location };
    }
    const reading = readHop(caveat.identifier);
    return reading.ok
      ? { number, kind: "hop", hop: reading.hop }
      : { number, kind: "unreadable", problems: reading.problems, raw };
  });
  const inspected = { identifier: rawBytes(identifier), links };
  return location === undefined ? inspected : { location, ...inspected };
}

function rawBytes(bytes: Uint8Array): RawBytes {
  const base64url = encodeBase64url(bytes);
  const text = decodeUtf8(bytes);
  return text === undefined ? { base64url, hex: bytesToHex(bytes) } : { base64url, text };
}

function capabilityOf(macaroon: Macaroon): Identifier | undefined {
  try {
    return decodeIdentifier(partsOf(macaroon).identifier);
  } catch (error) {
    if (error instanceof TokenError) return undefined;
    throw error;
  }
}

/** Bytes as base64url. UTF-8 bytes are also given as a string, other bytes in hexadecimal. */
export interface RawBytes {
  readonly base64url: string;
  readonly text?: string;
  readonly hex?: string;
}

/** One unverified link of a chain. */
export interface InspectedLink {
  /** The index in the chain; 1 for the first caveat. */
  readonly number: number;
  /**
   * `hop`: a valid hop. `unreadable`: a caveat that a check would refuse. `third-party`: a caveat that needs a
   * discharge.
   */
  readonly kind: "hop" | "unreadable" | "third-party";
  readonly hop?: Hop;
  readonly problems?: readonly HopProblem[];
  /** The caveat's bytes, if the caveat is not a hop. */
  readonly raw?: RawBytes;
  /** The location in a third-party caveat: the address from which to get the discharge. */
  readonly location?: string;
}

/** The unverified contents of a macaroon, without its signature. */
export interface InspectedMacaroon {
  readonly location?: string;
  /** The identifier's bytes. */
  readonly identifier: RawBytes;
  readonly links: readonly InspectedLink[];
}

/** The contents of a token. Nothing is verified: anyone can write a token with any contents. */
export interface Inspection extends InspectedMacaroon {
  readonly verified: false;
  readonly format: MacaroonFormat;
  /** Total size of all macaroons in v2 binary form, in bytes. */
  readonly bytes: number;
  /** The grant's id, such as `documents:read`; absent if this macaroon is not a capability. */
  readonly grant?: string;
  /** The contents of the identifier; absent if this macaroon is not a capability. */
  readonly capability?: Identifier;
  /** The service whose key made the token, according to its key id; absent for a root key. */
  readonly service?: string;
  /** The authority that all readable hops together leave. */
  readonly authority: Authority;
  /**
   * The revocation id of the last link. If the id is revoked, this token and everything narrowed from this token are
   * refused.
   */
  readonly revocationId: string;
  readonly discharges: readonly InspectedMacaroon[];
  readonly warnings: readonly InspectionWarning[];
}

/** A warning for the holder of a token. */
export interface InspectionWarning {
  readonly code:
    | "not_a_capability"
    | "unreadable_caveat"
    | "no_expiry"
    | "long_expiry"
    | "expired"
    | "not_yet_valid"
    | "no_operations"
    | "nothing_left"
    | "prefix_of_path"
    | "discharge_needed"
    | "over_limit";
  readonly message: string;
}

// Warn about a token that is valid for longer than a day.
const LONG = 24 * 60 * 60 * 1000;

/**
 * Returns the warnings for a token's holder.
 *
 * @param over - The message about a limit that the token exceeds, if any.
 * @param now - The time for judging expiry, in milliseconds since 1970.
 */
function warningsFor(
  inspection: Omit<Inspection, "warnings">,
  over: string | undefined,
  now: number,
): InspectionWarning[] {
  if (inspection.capability === undefined) {
    const message =
      "this is a macaroon, but not a capability of proviso: every check here refuses it";
    return [{ code: "not_a_capability", message }];
  }
  const warnings: InspectionWarning[] = [];
  for (const { number, kind, problems } of inspection.links) {
    if (kind !== "unreadable") continue;
    const why = (problems ?? []).map((problem) => problem.message).join("; ");
    const message = `link ${number} would be refused: ${why}`;
    warnings.push({ code: "unreadable_caveat", message });
  }
  warnings.push(...timeWarnings(inspection, now));
  const { authority, links, discharges } = inspection;
  if (authority.operations === undefined) {
    const message = "no hop names operations, so every operation of its grant is allowed";
    warnings.push({ code: "no_operations", message });
  }
  const empty = emptyRules(authority);
  if (empty.length > 0) {
    const message = `the hops contradict each other in ${empty.join(", ")}: nothing is allowed`;
    warnings.push({ code: "nothing_left", message });
  }
  for (const { number, hop = {} } of links) {
    const weak = [...prefixesOfPaths(hop)].slice(0, MAX_REPORTED);
    const code = "prefix_of_path";
    warnings.push(
      ...weak.map(({ message }) => ({ code, message: `link ${number}: ${message}` }) as const),
    );
  }
  const needed = [{ links }, ...discharges].flatMap((one) => one.links);
  const open = needed.filter((link) => link.kind === "third-party").length - discharges.length;
  if (open > 0) {
    const message = `${open} third-party ${open === 1 ? "caveat needs a discharge" : "caveats need discharges"}`;
    warnings.push({ code: "discharge_needed", message });
  }
  if (over !== undefined) {
    warnings.push({ code: "over_limit", message: `every check would refuse it: ${over}` });
  }
  return warnings;
}

function timeWarnings(
  { authority }: Omit<Inspection, "warnings">,
  now: number,
): InspectionWarning[] {
  const warnings: InspectionWarning[] = [];
  const { expires, notBefore } = authority;
  const end = expires === undefined ? undefined : parseTime(expires);
  if (end === undefined) {
    const message = "no hop says when the token expires, so every check refuses it";
    warnings.push({ code: "no_expiry", message });
  } else if (end <= now) {
    warnings.push({ code: "expired", message: `it expired at ${expires}` });
  } else if (end - now > LONG) {
    warnings.push({ code: "long_expiry", message: "it lives for more than a day" });
  }
  const start = notBefore === undefined ? undefined : parseTime(notBefore);
  if (start !== undefined && start > now) {
    warnings.push({ code: "not_yet_valid", message: `it is not valid before ${notBefore}` });
  }
  return warnings;
}
