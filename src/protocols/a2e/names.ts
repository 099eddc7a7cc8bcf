import { CAPABILITY_NAMES, type CapabilityName } from "./plugin.js";

/** How messages of one capability are written. */
interface Naming {
  /** The first part of their types. */
  readonly namespace: string;
  /** The member that says what they call; another spelling of it is refused. */
  readonly called: "tool_name" | "name";
  /** Whether they may have a `server`. */
  readonly server: boolean;
}

const NAMING: { readonly [Name in CapabilityName]: Naming } = {
  skill: { namespace: "skill", called: "name", server: false },
  tools: { namespace: "tool", called: "tool_name", server: false },
  toolkits: { namespace: "toolkit", called: "tool_name", server: false },
  env: { namespace: "env", called: "name", server: false },
  proc: { namespace: "proc", called: "name", server: false },
  memory: { namespace: "memory", called: "name", server: false },
  learning: { namespace: "learn", called: "name", server: false },
  chains: { namespace: "chain", called: "name", server: false },
  mcp: { namespace: "mcp", called: "tool_name", server: true },
  multi_agent: { namespace: "multi_agent", called: "name", server: false },
};

const BY_NAMESPACE: ReadonlyMap<string, CapabilityName> = new Map(
  CAPABILITY_NAMES.map((name) => [NAMING[name].namespace, name]),
);

/** Of an operation: its namespace, then one or more parts. */
const OPERATION = /^[a-z][a-z0-9_]{0,31}(?:\/[a-z][a-z0-9_]{0,31}){1,3}$/;

/** How an operation is written, to be said after "must be". */
export const OPERATION_FORM = 'two to four names in small letters with "/" between, as "tool/call"';

/** The grant that tokens for a capability have. */
export function grantOf(name: CapabilityName): string {
  return `a2e:${name}`;
}

/** How messages of a capability are written. */
export function namingOf(name: CapabilityName): Naming {
  return NAMING[name];
}

/** Whether a text can name an operation. */
export function isOperation(text: string): boolean {
  return OPERATION.test(text);
}

/** The capability that an operation belongs to, by its namespace; `undefined` for one of none. */
export function capabilityOf(operation: string): CapabilityName | undefined {
  return isOperation(operation) ? BY_NAMESPACE.get(operation.split("/", 1)[0] ?? "") : undefined;
}
