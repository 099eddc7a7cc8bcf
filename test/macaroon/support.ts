import { TokenError } from "../../src/bytes/token-error.js";
import type { Macaroon } from "../../src/macaroon/index.js";

/** Returns all contents of a macaroon as plain strings, for comparison. */
export function contents(macaroon: Macaroon): object {
  const { location, identifier, caveats, signature } = macaroon;
  return {
    location,
    identifier: hex(identifier),
    signature: hex(signature),
    caveats: caveats.map((caveat) =>
      caveat.kind === "first-party"
        ? { identifier: hex(caveat.identifier) }
        : {
            identifier: hex(caveat.identifier),
            verificationId: hex(caveat.verificationId),
            location: caveat.location,
          },
    ),
  };
}

export function hex(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString("hex");
}

export function utf8(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}

/** Returns code and offset of the TokenError that `run` throws; rethrows any other error. */
export function rejection(run: () => unknown): { code: string; offset: number | undefined } {
  try {
    run();
  } catch (error) {
    if (error instanceof TokenError) return { code: error.code, offset: error.offset };
    throw error;
  }
  return { code: "accepted", offset: undefined };
}
