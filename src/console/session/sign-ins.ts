import type { Request, Response } from "express";
import { isObject } from "../../bytes/json.js";
import type { LoginState } from "../login/login.js";
import { type Confirming, endOf, readConfirming } from "./confirmations.js";
import { type CookieOptions, SealedCookie } from "./cookies.js";

/** What a browser keeps while its user signs in at the identity provider. */
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
      ...{ name: "proviso-approvals-login", purpose: "console-login" },
      ...options,
    });
  }

  put(res: Response, signIn: SignIn): void {
    const { confirming } = signIn;
    const ends = confirming === undefined ? this.#clock() + LONGEST : endOf(confirming);
    this.#cookie.write(res, JSON.stringify(signIn), ends);
  }

  /** What was begun in this browser, once: a code is good once, whatever comes of it. */
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
  // Without what it confirms, it would be taken for a sign-in to the console.
  if (Object.hasOwn(value, "confirming") && confirming === undefined) return undefined;
  return { state, nonce, verifier, to, ...(confirming === undefined ? {} : { confirming }) };
}
