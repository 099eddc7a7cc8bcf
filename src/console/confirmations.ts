import type { Request, Response } from "express";
import { isObject } from "../bytes/json.js";
import type { LoginState } from "./login/login.js";
import { type CookieOptions, SealedCookie, type Session } from "./sessions.js";

/** An action that a user must confirm by signing in again. */
export interface Confirmable {
  /** The id of an approval, or `host` for the creation of a host. */
  readonly what: string;
  /** The approval's digest, or a digest of the host's name. */
  readonly digest: string;
}

/** A sign-in that the user of a session has started to confirm an action. */
export interface Confirming extends Confirmable {
  /** The session's id. */
  readonly session: string;
  /** Milliseconds since 1970 at which the authorization request began. */
  readonly began: number;
  /** True if the sign-in must prove that the user is present. */
  readonly present: boolean;
  /** The form as the user filled it in, to be shown again; empty if the form is too long to keep. */
  readonly form: string;
}

/**
 * The result of a completed sign-in that confirms one action. It can be used once, before the time that {@link
 * endOf} returns.
 */
export interface Confirmation extends Confirming {
  readonly id: string;
}

/** A confirmation expires this many milliseconds after the start of its authorization request. */
const WINDOW = 5 * 60 * 1000;
/** Longest form, in characters, that fits into the cookie beside the other sealed values. */
const MOST_FORM = 2000;

/** Returns when a confirmation expires, in milliseconds since 1970. */
export function endOf({ began }: Pick<Confirming, "began">): number {
  return began + WINDOW;
}

/** Returns the form if it fits into a cookie; otherwise an empty string. */
export function formToKeep(text: string): string {
  return text.length > MOST_FORM ? "" : text;
}

/** The latest confirmation of a browser, kept in a sealed cookie. */
export class Confirmations {
  readonly #cookie: SealedCookie;
  readonly #clock: () => number;

  constructor(options: Pick<CookieOptions, "seal" | "secure" | "clock">) {
    this.#clock = options.clock;
    this.#cookie = new SealedCookie({
      name: "proviso-confirmation",
      purpose: "console-confirmation",
      ...options,
    });
  }

  put(res: Response, confirmation: Confirmation): void {
    this.#cookie.write(res, JSON.stringify(confirmation), endOf(confirmation));
  }

  /** Returns the confirmation of a session for exactly this action; `undefined` if there is none or it has expired. */
  of(req: Request, session: Session, { what, digest }: Confirmable): Confirmation | undefined {
    const found = this.last(req, session);
    return found?.what === what && found.digest === digest ? found : undefined;
  }

  /** Returns the confirmation of a session, for whatever action; `undefined` if there is none or it has expired. */
  last(req: Request, session: Session): Confirmation | undefined {
    const found = readConfirmation(this.#cookie.read(req));
    if (found === undefined || found.session !== session.id) return undefined;
    return endOf(found) > this.#clock() ? found : undefined;
  }

  /** Deletes the cookie. */
  clear(res: Response): void {
    this.#cookie.clear(res);
  }
}

function readConfirmation(text: string | undefined): Confirmation | undefined {
  if (text === undefined) return undefined;
  const value: unknown = JSON.parse(text);
  const confirming = readConfirming(value);
  if (confirming === undefined || !isObject(value)) return undefined;
  const { id } = value;
  return typeof id === "string" ? { ...confirming, id } : undefined;
}

function readConfirming(value: unknown): Confirming | undefined {
  if (!isObject(value)) return undefined;
  const { what, digest, session, began, present, form } = value;
  if (typeof what !== "string" || typeof digest !== "string" || typeof session !== "string")
    return undefined;
  if (typeof began !== "number" || typeof present !== "boolean" || typeof form !== "string")
    return undefined;
  return { what, digest, session, began, present, form };
}

/** The state of a sign-in, kept in the browser while the user is at the identity provider. */
export interface SignIn extends LoginState {
  /** The path, relative to the console, to which the browser returns after the sign-in. */
  readonly to: string;
  /** The action to confirm, if a signed-in user signs in again for it. */
  readonly confirming?: Confirming;
}

/** Longest ordinary sign-in, in milliseconds. */
const LONGEST = 15 * 60 * 1000;

/** The unfinished sign-in of a browser, kept in a sealed cookie. A new sign-in replaces it. */
export class SignIns {
  readonly #cookie: SealedCookie;
  readonly #clock: () => number;

  constructor(options: Pick<CookieOptions, "seal" | "secure" | "clock">) {
    this.#clock = options.clock;
    this.#cookie = new SealedCookie({
      name: "proviso-approvals-login",
      purpose: "console-login",
      ...options,
    });
  }

  put(res: Response, signIn: SignIn): void {
    const { confirming } = signIn;
    const ends = confirming === undefined ? this.#clock() + LONGEST : endOf(confirming);
    this.#cookie.write(res, JSON.stringify(signIn), ends);
  }

  /**
   * Returns the sign-in that was started in this browser, and deletes it. The sign-in is deleted even if it fails
   * afterwards, since an authorization code is valid only once.
   */
  take(req: Request, res: Response): SignIn | undefined {
    const text = this.#cookie.read(req);
    this.#cookie.clear(res);
    return text === undefined ? undefined : readSignIn(JSON.parse(text));
  }
}

function readSignIn(value: unknown): SignIn | undefined {
  if (!isObject(value)) return undefined;
  const { state, nonce, verifier, to } = value;
  if (typeof state !== "string" || typeof nonce !== "string") return undefined;
  if (typeof verifier !== "string" || typeof to !== "string") return undefined;
  const confirming = readConfirming(value["confirming"]);
  // If the action to confirm is unreadable, the sign-in must not be taken for an ordinary one.
  if (Object.hasOwn(value, "confirming") && confirming === undefined) return undefined;
  return { state, nonce, verifier, to, ...(confirming === undefined ? {} : { confirming }) };
}
