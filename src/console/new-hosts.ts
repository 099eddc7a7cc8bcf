import type { Request, Response } from "express";
import { isObject } from "../bytes/json.js";
import { type CookieOptions, SealedCookie, type Session } from "./sessions.js";

/** A host that was just created, with its enrolment token. The token is shown only once. */
export interface MadeHost {
  readonly host: string;
  readonly enrolmentToken: string;
}

/** The browser must load the page with the token within this many milliseconds. */
const LIFETIME = 60_000;

/** Passes an enrolment token to the next page in a sealed cookie. A reload of that page then creates no second host. */
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

  /** Returns the host that was created in this session, and deletes the cookie. */
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
