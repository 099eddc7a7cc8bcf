import type { ServerLink } from "./server-link.js";

const SEPARATOR = "__";
const SERVER_NAME = /^[A-Za-z0-9-]+(_[A-Za-z0-9-]+)*$/;
const TOOL_OF_SEVERAL = /^[A-Za-z0-9_-]{1,64}$/;

/** A tool or a prompt of one server, with the server's own name for it. */
export interface Route {
  readonly link: ServerLink;
  readonly name: string;
}

/** The servers behind a gate: one without a name, or any number with names. */
export class Servers {
  readonly links: readonly ServerLink[];

  constructor(links: readonly ServerLink[]) {
    this.links = links;
  }

  /**
   * The only server, if it has no name; else `undefined`. The host sees the tools and prompts of this server under
   * their own names.
   */
  get only(): ServerLink | undefined {
    const [link] = this.links;
    return link?.name === undefined ? link : undefined;
  }

  /** Returns an operation as a capability names it: `TOOL`, or `SERVER/TOOL` for a server with a name. */
  operation(link: ServerLink, operation: string): string {
    return link.name === undefined ? operation : `${link.name}/${operation}`;
  }

  /**
   * Returns the name by which the host sees a tool or a prompt; `undefined` if the name would be too long or has
   * characters that are not allowed.
   */
  hostName(link: ServerLink, name: string): string | undefined {
    if (link.name === undefined) return name;
    const hostName = `${link.name}${SEPARATOR}${name}`;
    return TOOL_OF_SEVERAL.test(hostName) ? hostName : undefined;
  }

  /** Finds the tool or the prompt that the host calls by a name. */
  route(hostName: string): Route | undefined {
    const { only } = this;
    if (only !== undefined) return { link: only, name: hostName };
    const at = hostName.indexOf(SEPARATOR);
    const link = this.links.find(({ name }) => at > 0 && name === hostName.slice(0, at));
    return link && { link, name: hostName.slice(at + SEPARATOR.length) };
  }
}

/**
 * Returns whether a server may have this name. A name has no `__` and no `_` at either end, so that `SERVER__TOOL` is
 * unambiguous. The schema of the gate's configuration has the same pattern.
 */
export function isServerName(name: string): boolean {
  return SERVER_NAME.test(name);
}

/**
 * Checks the names of the servers, by which the gate tells their tools apart.
 *
 * @throws TypeError that names the server, if a name is missing, malformed or comes twice.
 */
export function assertServerNames(names: readonly (string | undefined)[]): void {
  if (names.length === 0) throw new TypeError("servers: there must be at least one");
  if (names.length === 1 && names[0] === undefined) return;
  for (const [at, name] of names.entries()) {
    if (name === undefined)
      throw new TypeError(`servers[${at}]: one of several servers needs a name`);
    if (!isServerName(name)) {
      throw new TypeError(
        `servers: the name ${JSON.stringify(name)} must be letters, digits, "-" and single "_" between them`,
      );
    }
    if (names.indexOf(name) !== at) throw new TypeError(`servers: there are two named ${name}`);
  }
}
