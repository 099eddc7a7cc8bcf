import type { Request, Response } from "express";
import { isObject } from "../../bytes/json.js";
import { type CookieOptions, SealedCookie } from "./cookies.js";
import type { Session } from "./sessions.js";

/** What a user confirms by signing in once more. */
export interface Confirmable {
  /** The id of an approval, or `host` where one is added. */
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
  /** Whether the user's presence must be shown. */
  readonly present: boolean;
  /** The form as the user filled it in, to be shown again; empty where it is too long. */
  readonly form: string;
}

/** An authentication that was made to confirm one thing. It is good once, and until {@link endOf}. */
export interface Confirmation extends Confirming {
  readonly id: string;
}

/** Milliseconds from the beginning of the authorization request until what is confirmed must have been sent. */
const WINDOW = 5 * 60 * 1000;
/** Characters of a form that a cookie has room for, beside the rest of what is sealed. */
const MOST_FORM = 2000;

/** When a confirmation is over, in milliseconds since 1970. */
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
      ...{ name: "proviso-confirmation", purpose: "console-confirmation" },
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
export function readConfirming(value: unknown): Confirming | undefined {
  if (!isObject(value)) return undefined;
  const { what, digest, session, began, present, form } = value;
  if (typeof what !== "string" || typeof digest !== "string" || typeof session !== "string")
    return undefined;
  if (typeof began !== "number" || typeof present !== "boolean" || typeof form !== "string")
    return undefined;
  return { what, digest, session, began, present, form };
}
