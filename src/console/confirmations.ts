import type { Request, Response } from "express";
import { isObject } from "../bytes/json.js";
import type { LoginState } from "./login/login.js";
import { type CookieOptions, SealedCookie, type Session } from "./sessions.js";

/** An action that a user confirms by signing in again. */
export interface Confirmable {
  /** The id of an approval, or `host` when a host is created. */
  readonly what: string;
  /** The approval's digest, or a digest of the host's name. */
  readonly digest: string;
}

/** A sign-in that was started to confirm an action, by the user of a session. */
export interface Confirming extends Confirmable {
  /** The session's id. */
  readonly session: string;
  /** Milliseconds since 1970 at which the authorization request began. */
  readonly began: number;
  /** True if the sign-in must prove the user's presence. */
  readonly present: boolean;
  /** The form as the user filled it in, so that it can be shown again; empty if it is too long to keep. */
  readonly form: string;
}

/** A completed sign-in that confirms one action. It can be used once, before {@link endOf}. */
export interface Confirmation extends Confirming {
  readonly id: string;
}

/** Milliseconds from the start of the authorization request until the confirmation expires. */
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

/** A browser's latest confirmation, in a sealed cookie. */
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

  /** Returns this session's confirmation if it is for exactly this action and has not expired. */
  of(req: Request, session: Session, { what, digest }: Confirmable): Confirmation | undefined {
    const found = this.last(req, session);
    return found?.what === what && found.digest === digest ? found : undefined;
  }

  /** Returns this session's confirmation, whatever its action, if it has not expired. */
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

/** Parses the contents of a sealed cookie. */
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
  /** The path to go to afterwards, relative to the console. */
  readonly to: string;
  /** Set if a signed-in user signs in again to confirm an action. */
  readonly confirming?: Confirming;
}

/** Most milliseconds that an ordinary sign-in may take. */
const LONGEST = 15 * 60 * 1000;

/** A browser's sign-in in progress, in a sealed cookie. Starting another replaces it. */
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

  /** Returns and deletes the sign-in started in this browser, whatever its result will be: its code is valid once. */
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
  // Without the action to confirm, it would count as an ordinary sign-in.
  if (Object.hasOwn(value, "confirming") && confirming === undefined) return undefined;
  return { state, nonce, verifier, to, ...(confirming === undefined ? {} : { confirming }) };
}
