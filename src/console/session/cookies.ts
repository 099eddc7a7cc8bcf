import type { Request, Response } from "express";
import type { Issuer } from "../../issuer/issuer.js";

/** What seals cookies: an issuer, under keys that its root key gives. */
export type Seal = Pick<Issuer, "seal" | "open">;

export interface CookieOptions {
  readonly name: string;
  /** What it is sealed for: a cookie of one purpose is noise for another. */
  readonly purpose: string;
  /** Whether the console is reached by https: then the cookie is bound to it and to this one host. */
  readonly secure: boolean;
  readonly seal: Seal;
  readonly clock: () => number;
}

/** One sealed cookie of a browser: only this server can read it or make one. */
export class SealedCookie {
  readonly #options: CookieOptions;
  readonly #name: string;

  constructor(options: CookieOptions) {
    this.#options = options;
    this.#name = options.secure ? `__Host-${options.name}` : options.name;
  }

  /** What the browser has, if it is ours and not over. */
  read(req: Request): string | undefined {
    const { seal, purpose } = this.#options;
    for (const value of valuesOf(req.headers.cookie ?? "", this.#name)) {
      const text = seal.open(purpose, value);
      if (text !== undefined) return text;
    }
    return undefined;
  }

  /** @param ends - Milliseconds since 1970. */
  write(res: Response, text: string, ends: number): void {
    const { seal, purpose, clock } = this.#options;
    const value = seal.seal(purpose, text, new Date(ends));
    res.cookie(this.#name, value, { ...this.#attributes(), maxAge: Math.max(0, ends - clock()) });
  }

  clear(res: Response): void {
    res.clearCookie(this.#name, this.#attributes());
  }

  #attributes(): { httpOnly: true; sameSite: "lax"; secure: boolean; path: "/" } {
    // Lax: an identity provider sends users back from another site.
    return { httpOnly: true, sameSite: "lax", secure: this.#options.secure, path: "/" };
  }
}

/** Values of the cookies with a name, as few as a browser would send for it. */
function valuesOf(header: string, name: string): readonly string[] {
  const pairs = header.split(";").map((pair) => pair.trim());
  const own = pairs.filter((pair) => pair.startsWith(`${name}=`));
  return own.slice(0, 4).map((pair) => pair.slice(name.length + 1));
}
