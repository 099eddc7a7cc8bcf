import { randomBytes, timingSafeEqual } from "node:crypto";
import type { Request, Response } from "express";
import { isIdentity } from "../auth/identity.js";
import { encodeBase64url } from "../bytes/base64.js";
import { isObject } from "../bytes/json.js";
import type { Issuer } from "../issuer/issuer.js";

/** The session of a signed-in user in one browser. */
export interface Session {
  readonly id: string;
  readonly principal: string;
  /** A secret that every form of the session contains, and that pages of other sites do not know. */
  readonly csrf: string;
  /** The end of the session, in milliseconds since 1970. */
  readonly ends: number;
  /** User codes that the user has entered, each with the id of its approval; only the latest ones. */
  readonly codes: readonly (readonly [approval: string, code: string])[];
}

export interface SessionsOptions {
  readonly seal: Seal;
  readonly secure: boolean;
  /** Lifetime of a session, in seconds. */
  readonly lifetime: number;
  readonly clock: () => number;
}

const MOST_CODES = 4;

/** Sessions in sealed cookies. If a user signs out, other processes still accept the session until it expires. */
export class Sessions {
  readonly #options: SessionsOptions;
  readonly #cookie: SealedCookie;
  /**
   * The sessions whose users have signed out, with their expiry. They are kept until the expiry, since the
   * cookie would otherwise be valid again.
   */
  readonly #ended = new Map<string, number>();

  constructor(options: SessionsOptions) {
    this.#options = options;
    const { seal, secure, clock } = options;
    this.#cookie = new SealedCookie({
      name: "proviso-approvals",
      purpose: "console-session",
      seal,
      secure,
      clock,
    });
  }

  /** Starts a session for a user. */
  start(res: Response, principal: string): void {
    const { clock, lifetime } = this.#options;
    const ends = clock() + lifetime * 1000;
    const session = { id: random(), principal, csrf: random(), ends, codes: [] };
    this.#cookie.write(res, JSON.stringify(session), ends);
  }

  of(req: Request): Session | undefined {
    const session = readSession(this.#cookie.read(req));
    if (session === undefined || this.#ended.has(session.id)) return undefined;
    return session.ends > this.#options.clock() ? session : undefined;
  }

  /** Adds a user code to the codes entered in a session. */
  entered(res: Response, session: Session, approval: string, code: string): void {
    const others = session.codes.filter(([id]) => id !== approval);
    const codes = [...others, [approval, code] as const].slice(-MOST_CODES);
    this.#cookie.write(res, JSON.stringify({ ...session, codes }), session.ends);
  }

  /** Signs the user out. This process then refuses the cookie and every copy of it. */
  end(res: Response, session: Session): void {
    const now = this.#options.clock();
    // The sessions are in the order of their sign-outs. An expired session stays in the map while a session that was
    // added before it has not expired.
    for (const [id, ends] of this.#ended) {
      if (ends > now) break;
      this.#ended.delete(id);
    }
    this.#ended.set(session.id, session.ends);
    this.#cookie.clear(res);
  }
}

/** Returns whether a form comes from a page that was shown in this session. */
export function isFormOf(session: Session, token: string): boolean {
  const [own, given] = [Buffer.from(session.csrf), Buffer.from(token)];
  return own.length === given.length && timingSafeEqual(own, given);
}

function random(): string {
  return encodeBase64url(randomBytes(18));
}

function readSession(text: string | undefined): Session | undefined {
  if (text === undefined) return undefined;
  const value: unknown = JSON.parse(text);
  if (!isObject(value)) return undefined;
  const { id, principal, csrf, ends, codes } = value;
  if (typeof id !== "string" || !isIdentity(principal) || typeof csrf !== "string")
    return undefined;
  if (typeof ends !== "number" || !Array.isArray(codes)) return undefined;
  return { id, principal, csrf, ends, codes: codes.filter(isCode) };
}

function isCode(value: unknown): value is readonly [string, string] {
  return (
    Array.isArray(value) && value.length === 2 && value.every((one) => typeof one === "string")
  );
}

/** Seals and opens texts. An issuer does this with keys derived from its root key. */
export type Seal = Pick<Issuer, "seal" | "open">;

export interface CookieOptions {
  readonly name: string;
  /** The purpose of the cookie. A cookie that was sealed for one purpose cannot be opened for another. */
  readonly purpose: string;
  /** True if the console uses HTTPS. The browser then sends the cookie only by HTTPS, and only to this host. */
  readonly secure: boolean;
  readonly seal: Seal;
  readonly clock: () => number;
}

/** A cookie that is sealed, so that only this server can make and read it. */
export class SealedCookie {
  readonly #options: CookieOptions;
  readonly #name: string;

  constructor(options: CookieOptions) {
    this.#options = options;
    this.#name = options.secure ? `__Host-${options.name}` : options.name;
  }

  /** Returns the contents of the browser's cookie; `undefined` if there is none, or if it is forged or expired. */
  read(req: Request): string | undefined {
    const { seal, purpose } = this.#options;
    for (const value of valuesOf(req.headers.cookie ?? "", this.#name)) {
      const text = seal.open(purpose, value);
      if (text !== undefined) return text;
    }
    return undefined;
  }

  /** @param ends - The expiry of the cookie, in milliseconds since 1970. */
  write(res: Response, text: string, ends: number): void {
    const { seal, purpose, clock } = this.#options;
    const value = seal.seal(purpose, text, new Date(ends));
    res.cookie(this.#name, value, { ...this.#attributes(), maxAge: Math.max(0, ends - clock()) });
  }

  clear(res: Response): void {
    res.clearCookie(this.#name, this.#attributes());
  }

  #attributes(): { httpOnly: true; sameSite: "lax"; secure: boolean; path: "/" } {
    // `lax`, because the identity provider's redirect comes from another site.
    return { httpOnly: true, sameSite: "lax", secure: this.#options.secure, path: "/" };
  }
}

/**
 * Returns the values of the first 4 cookies with a name. A browser sends at most a few cookies with the same name.
 */
function valuesOf(header: string, name: string): readonly string[] {
  const pairs = header.split(";").map((pair) => pair.trim());
  const own = pairs.filter((pair) => pair.startsWith(`${name}=`));
  return own.slice(0, 4).map((pair) => pair.slice(name.length + 1));
}
