import { bytesToHex } from "@noble/hashes/utils.js";
import { encodeBase64url } from "../bytes/base64.js";
import { TokenError } from "../bytes/token-error.js";
import { decodeUtf8 } from "../bytes/utf8.js";
import { meetOf } from "../caveats/meet.js";
import { readHop } from "../caveats/read-hop.js";
import { assertString } from "../checks/kinds.js";
import { knownMembers } from "../checks/members.js";
import { binaryV2Length } from "../macaroon/binary-v2.js";
import { type Macaroon, partsOf } from "../macaroon/macaroon.js";
import { readMacaroons } from "../macaroon/read.js";
import { revocationIdOf } from "../revocation/id.js";
import { decodeIdentifier, type Identifier } from "./identifier.js";
import type { InspectedLink, InspectedMacaroon, Inspection, RawBytes } from "./inspection.js";
import { readServiceKeyId } from "./key-id.js";
import { CAPABILITY_LIMITS, overCapabilityLimits } from "./limits.js";
import { warningsFor } from "./warnings.js";

export interface InspectOptions {
  /** The moment to compare times with, in milliseconds since 1970; now unless given. */
  readonly now?: number;
}

/**
 * Reads what a token says, without key and without verifying anything. Works on any macaroon:
 * caveats that are not hops are returned as they are.
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
