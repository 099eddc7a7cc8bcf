import type { Markup } from "../../http/markup/markup.js";
import { trusted, untrusted } from "../../http/markup/untrusted-text.js";

/** An agent or a host. */
interface Party {
  readonly id: string;
  readonly name?: string;
  /** Set where the user gave it the name. */
  readonly named?: true;
}

/** Characters of a name that a page shows. */
const MOST = 120;

/** The name of a party: in quotation marks where the party calls itself so. Without a name, its id. */
export function partyName({ id, name, named }: Party, most: number = MOST): Markup {
  if (name === undefined) return trusted(id);
  return named === true ? trusted(name) : untrusted(name, most);
}
