import { encodeBase64url } from "../bytes/base64.js";
import { TokenError } from "../bytes/token-error.js";
import { decodeUtf8 } from "../bytes/utf8.js";
import type { Authority } from "../caveats/authority.js";
import type { Hop } from "../caveats/hop.js";
import type { HopProblem } from "../caveats/hop-rule.js";
import { meetOf } from "../caveats/meet.js";
import { readHop } from "../caveats/read-hop.js";
import { binaryV2Length } from "../macaroon/binary-v2.js";
import { type Macaroon, partsOf } from "../macaroon/macaroon.js";
import { type MacaroonFormat, readMacaroons } from "../macaroon/read.js";
import { revocationIdOf } from "../revocation/id.js";
import { decodeIdentifier, type Identifier } from "./identifier.js";
import { CAPABILITY_LIMITS } from "./limits.js";
import { overCapabilityLimits } from "./token.js";
import { type InspectionWarning, warningsFor } from "./warnings.js";

/** Bytes as they are, and as text where they are UTF-8. */
export interface RawBytes {
  readonly base64url: string;
  readonly text?: string;
}

/** One link of a chain as it reads; nothing of it has been verified. */
export interface InspectedLink {
  /** 1 for the first caveat. */
  readonly number: number;
  /** `hop`: readable. `unreadable`: a check would refuse it. `third-party`: needs a discharge. */
  readonly kind: "hop" | "unreadable" | "third-party";
  readonly hop?: Hop;
  readonly problems?: readonly HopProblem[];
  /** The caveat's own bytes, for links that are not hops. */
  readonly raw?: RawBytes;
  /** Where a third-party caveat says to ask for a discharge. */
  readonly location?: string;
}

/** What a macaroon says about itself, unverified. Never holds its signature. */
export interface InspectedMacaroon {
  readonly location?: string;
  /** The identifier's bytes. */
  readonly identifier: RawBytes;
  readonly links: readonly InspectedLink[];
}

/** What a token says. Anyone can write a token that says anything: nothing here is verified. */
export interface Inspection extends InspectedMacaroon {
  readonly verified: false;
  readonly format: MacaroonFormat;
  /** Size of all macaroons in v2 binary form. */
  readonly bytes: number;
  /** What was granted; absent if this macaroon is not a capability. */
  readonly grant?: Identifier;
  /** What the readable hops leave together. */
  readonly authority: Authority;
  /** Of the last link: revoking it refuses this token and all that is narrowed from it. */
  readonly revocationId: string;
  readonly discharges: readonly InspectedMacaroon[];
  readonly warnings: readonly InspectionWarning[];
}

export interface InspectOptions {
  /** The moment to compare times with, in milliseconds since 1970; now unless given. */
  readonly now?: number;
}

/**
 * Reads what a token says, without key and without verifying anything. Works on any macaroon:
 * caveats that are not hops are returned as they are.
 *
 * @throws TokenError if the token is not a well-formed macaroon.
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
  const { format, macaroons } = readMacaroons(token);
  const [root, ...others] = macaroons;
  const own = inspectMacaroon(root);
  const discharges = others.map(inspectMacaroon);
  const authority = meetOf([own, ...discharges].map(({ links }) => links.map((link) => link.hop)));
  const grant = grantOf(root);
  const bytes = macaroons.reduce((sum, macaroon) => sum + binaryV2Length(macaroon), 0);
  const inspection: Omit<Inspection, "warnings"> = {
    verified: false,
    format,
    bytes,
    ...own,
    ...(grant === undefined ? {} : { grant }),
    authority,
    revocationId: revocationIdOf(partsOf(root).signature),
    discharges,
  };
  const over = overCapabilityLimits(macaroons, CAPABILITY_LIMITS);
  const warnings = warningsFor(inspection, over?.message, options.now ?? Date.now());
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
  return text === undefined ? { base64url } : { base64url, text };
}

function grantOf(macaroon: Macaroon): Identifier | undefined {
  try {
    return decodeIdentifier(partsOf(macaroon).identifier);
  } catch (error) {
    if (error instanceof TokenError) return undefined;
    throw error;
  }
}
