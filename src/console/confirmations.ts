import type { Request, Response } from "express";
import { isObject } from "../bytes/json.js";
import type { LoginState } from "./login/login.js";
import { type CookieOptions, SealedCookie, type Session } from "./sessions.js";

/** An action that a user confirms by signing in again. */
export interface Confirmable {
  /** The id of an approval, or `host` when a host is added. */
  readonly what: string;
  /** The approval's digest, or one of the host's name. */
  readonly digest: string;
}

/** A sign-in that was begun to confirm something, by the user of a session. */
export interface Confirming extends Confirmable {
  /** The session's id. */
  readonly session: string;
  /** Milliseconds since 1970 at which the authorization request began. */
  readonly began: number;
  /** True if the user's presence must be shown. */
  readonly present: boolean;
  /** The form as the user filled it in, to be shown again; empty if it is too long. */
  readonly form: string;
}

/** An authentication that was made to confirm one thing. It is good once, and until {@link endOf}. */
export interface Confirmation extends Confirming {
  readonly id: string;
}

/** Milliseconds from the beginning of the authorization request to the deadline for the confirmed form. */
const WINDOW = 5 * 60 * 1000;
/** Characters of a form that fit into a cookie with the other sealed values. */
const MOST_FORM = 2000;

/** Returns when a confirmation is over, in milliseconds since 1970. */
export function endOf({ began }: Pick<Confirming, "began">): number {
  return began + WINDOW;
}

/** The form, if a cookie has room for it; else nothing. */
export function formToKeep(text: string): string {
  return text.length > MOST_FORM ? "" : text;
}

/** The last confirmation of a browser, in a sealed cookie. */
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

  /** The confirmation of this very thing that was made in this session, if it is not over. */
  of(req: Request, session: Session, { what, digest }: Confirmable): Confirmation | undefined {
    const found = this.last(req, session);
    return found?.what === what && found.digest === digest ? found : undefined;
  }

  /** The last confirmation that was made in this session, of whatever thing, if it is not over. */
  last(req: Request, session: Session): Confirmation | undefined {
    const found = readConfirmation(this.#cookie.read(req));
    if (found === undefined || found.session !== session.id) return undefined;
    return endOf(found) > this.#clock() ? found : undefined;
  }

  /** The browser forgets it. */
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

/** Reads what a sealed cookie has. */
function readConfirming(value: unknown): Confirming | undefined {
  if (!isObject(value)) return undefined;
  const { what, digest, session, began, present, form } = value;
  if (typeof what !== "string" || typeof digest !== "string" || typeof session !== "string")
    return undefined;
  if (typeof began !== "number" || typeof present !== "boolean" || typeof form !== "string")
    return undefined;
  return { what, digest, session, began, present, form };
}

/** Data that a browser keeps while its user signs in at the identity provider. */
export interface SignIn extends LoginState {
  /** The path to go to then, below the console's. */
  readonly to: string;
  /** Present where a user who is signed in already confirms something. */
  readonly confirming?: Confirming;
}

/** Milliseconds that a sign-in may take which confirms nothing. */
const LONGEST = 15 * 60 * 1000;

/** The sign-in that is under way in a browser, in a sealed cookie: another one takes its place. */
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

  /** Returns the sign-in begun in this browser, once: a code is valid once, whatever the result. */
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
  // Without the confirmed action, it would be taken for a sign-in to the console.
  if (Object.hasOwn(value, "confirming") && confirming === undefined) return undefined;
  return { state, nonce, verifier, to, ...(confirming === undefined ? {} : { confirming }) };
}
