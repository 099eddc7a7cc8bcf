import type { Request, Response } from "express";
import { isObject } from "../bytes/json.js";
import { type CookieOptions, SealedCookie, type Session } from "./sessions.js";

/** A host that a user has just made, and the token that is shown once. */
export interface MadeHost {
  readonly host: string;
  readonly enrolmentToken: string;
}

/** Milliseconds in which the browser fetches the page that shows the token. */
const LIFETIME = 60_000;

/** Hands an enrolment token on in a sealed cookie, so that reloading its page makes no second host. */
export class NewHosts {
  readonly #cookie: SealedCookie;
  readonly #clock: () => number;

  constructor(options: Pick<CookieOptions, "seal" | "secure" | "clock">) {
    this.#clock = options.clock;
    this.#cookie = new SealedCookie({
      name: "proviso-new-host",
      purpose: "console-new-host",
      ...options,
    });
  }

  put(res: Response, { id: session }: Session, { host, enrolmentToken }: MadeHost): void {
    const text = JSON.stringify({ session, host, enrolmentToken });
    this.#cookie.write(res, text, this.#clock() + LIFETIME);
  }

  /** Returns the host made in this session, once; the browser then forgets it. */
  take(req: Request, res: Response, { id }: Session): MadeHost | undefined {
    const text = this.#cookie.read(req);
    if (text === undefined) return undefined;
    this.#cookie.clear(res);
    const value: unknown = JSON.parse(text);
    if (!isObject(value)) return undefined;
    const { session, host, enrolmentToken } = value;
    if (session !== id || typeof host !== "string" || typeof enrolmentToken !== "string")
      return undefined;
    return { host, enrolmentToken };
  }
}
