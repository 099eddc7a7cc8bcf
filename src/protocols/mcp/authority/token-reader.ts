import { MAX_PRESENTED } from "../../../agent/presented.js";
import type { AgentDenial } from "../../../agent/refusal.js";
import type { AuthenticToken } from "../../../capability/authentic-token.js";
import type { Authentication } from "../../../capability/authenticate.js";
import type { Denial } from "../../../capability/denial.js";
import type { Issuer } from "../../../issuer/issuer.js";
import { StorageError } from "../../../storage/storage-error.js";
import type { Presented } from "./gate-authority.js";

/**
 * Thrown when the gate's own tokens cannot be read. The message says why and contains no token; the model sees it too.
 */
export class OwnTokenError extends Error {
  override readonly name = "OwnTokenError";
}

export interface TokenReaderOptions {
  readonly issuer: Issuer;
  /**
   * Returns the gate's own tokens at this moment. Unless given, the gate has no own tokens.
   *
   * @throws OwnTokenError while the tokens cannot be read; the gate then refuses every call.
   */
  readonly ownTokens?: (() => readonly string[]) | undefined;
  /** Called when the issuer's keys cannot be read; the gate then refuses the call. */
  readonly onProblem?: ((error: StorageError) => void) | undefined;
}

/** Finds and authenticates the tokens that apply to a message: the gate's own tokens, and those of the message. */
export class TokenReader {
  readonly #options: TokenReaderOptions;

  constructor(options: TokenReaderOptions) {
    this.#options = options;
  }

  present(given: readonly string[]): Presented {
    const own = this.#ownTokens();
    if (own instanceof OwnTokenError) {
      return refused({ code: "capability_missing", rule: "capabilities", message: own.message });
    }
    const texts = [...new Set([...own, ...given])];
    if (texts.length > MAX_PRESENTED) {
      const message = `a call may present at most ${MAX_PRESENTED} tokens`;
      return refused({ code: "token_too_large", rule: "capabilities", message });
    }
    const tokens: AuthenticToken[] = [];
    const denials: AgentDenial[] = [];
    for (const [at, text] of texts.entries()) {
      const found = this.#authenticate(text);
      if (found.ok) tokens.push(found.token);
      else denials.push(texts.length > 1 ? { ...found.denial, capability: at } : found.denial);
    }
    const [denial, ...otherDenials] = denials;
    if (denial !== undefined) return refused(denial, ...otherDenials);
    const [token, ...others] = tokens;
    return token === undefined
      ? refused(NOTHING_PRESENTED)
      : { ok: true, tokens: [token, ...others] };
  }

  texts(given: readonly string[]): readonly string[] {
    const own = this.#ownTokens();
    return own instanceof OwnTokenError ? given : [...own, ...given];
  }

  /**
   * Returns the denial for keys that cannot be read.
   *
   * @throws The error itself if it is not a StorageError.
   */
  keyDenial(error: unknown): Denial {
    if (!(error instanceof StorageError)) throw error;
    this.#options.onProblem?.(error);
    return { code: "unknown_key", rule: "keys", message: "the gate cannot read its keys" };
  }

  #ownTokens(): readonly string[] | OwnTokenError {
    try {
      return this.#options.ownTokens?.() ?? [];
    } catch (error) {
      if (!(error instanceof OwnTokenError)) throw error;
      return error;
    }
  }

  #authenticate(text: string): Authentication {
    try {
      return this.#options.issuer.authenticate(text);
    } catch (error) {
      return { ok: false, denial: this.keyDenial(error) };
    }
  }
}

export const NOTHING_PRESENTED: AgentDenial = {
  code: "capability_missing",
  rule: "capabilities",
  message:
    "the call presents no token (over HTTP in the header Proviso-Capability, " +
    'or in _meta as "dev.proviso/capability"), and the gate has none of its own',
};

function refused(...denials: readonly [AgentDenial, ...AgentDenial[]]): Presented {
  return { ok: false, denials };
}
