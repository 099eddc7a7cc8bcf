import type { GrantOperations } from "../capability/grants.js";
import { described } from "../checks/described.js";
import { plainCopy, plainObject } from "../checks/plain.js";

/** What an issuer offers: a name for a set of operations, under which it mints. */
export interface Grant {
  /** Such as `documents:read`: 1 to 128 printable ASCII characters without spaces. */
  readonly id: string;
  /** The operations it can give. */
  readonly operations: readonly string[];
  /** For those who choose among grants; an issuing agent requires it. */
  readonly description?: string;
  /** Whether holders may attenuate its capabilities; unless given, if it is not legacy. */
  readonly attenuable?: boolean;
  /**
   * A wrapper around something that knows no capabilities: it may be asked for without saying which
   * resources, and is marked wherever it is used.
   */
  readonly legacy?: boolean;
  /** Grants that have to be asked for together with this one. */
  readonly requires?: readonly string[];
  /**
   * Whether, at each call, resources must still match the query of the request that named them. Unless
   * given, they must where the principal's policy under this grant has conditions on fields.
   */
  readonly recheck?: boolean;
  /** Who must approve before something is issued under it; without it, what the policy allows is issued at once. */
  readonly approval?: GrantApproval;
}

/** Who approves, and how many of them must. */
export interface GrantApproval {
  /** Principals; the user on whose behalf it is asked for unless given. */
  readonly approvers?: readonly string[];
  /** How many must approve; 1 unless given. */
  readonly needed?: number;
  /**
   * Seconds for which a request waits to be decided, and then as long again to be collected: up to 30 days. Unless
   * given, 1 day; for what agents of a registry ask for, as long as its settings say.
   */
  readonly lifetime?: number;
}

const ID = /^[\x21-\x7e]{1,128}$/;

/**
 * Grants by id.
 *
 * @throws TypeError naming the field that is wrong, such as `grants[1].operations`.
 */
export function grantsById(grants: readonly Grant[]): ReadonlyMap<string, Grant> {
  const own = plainCopy(grants, "grants");
  if (!Array.isArray(own) || own.length === 0) {
    throw new TypeError("grants: must be an array of at least one grant");
  }
  const known = new Map<string, Grant>();
  for (const [at, grant] of own.entries()) {
    const where = `grants[${at}]`;
    const { id, operations } = plainObject(grant, where);
    if (typeof id !== "string" || !ID.test(id)) {
      throw new TypeError(
        `${where}.id: must be 1 to 128 printable ASCII characters without spaces`,
      );
    }
    if (known.has(id)) throw new TypeError(`${where}.id: "${id}" is taken`);
    const named = texts(operations, `${where}.operations`);
    if (named.includes("*")) {
      throw new TypeError(
        `${where}.operations[${named.indexOf("*")}]: "*" is no operation; write out those that the grant has`,
      );
    }
    known.set(id, Object.freeze({ ...grant, operations: Object.freeze(named) }));
  }
  return known;
}

/**
 * The texts of a list, in an array of its own.
 *
 * @throws TypeError naming what is not an array of non-empty texts.
 */
export function texts(value: unknown, where: string): readonly string[] {
  if (!Array.isArray(value)) {
    throw new TypeError(`${where}: must be an array of texts, not ${described(value)}`);
  }
  return value.map((item: unknown, at) => {
    if (typeof item === "string" && item !== "") return item;
    throw new TypeError(`${where}[${at}]: must be a text`);
  });
}

/** The part of the grants that checks rest on. */
export function operationsOf(grants: ReadonlyMap<string, Grant>): GrantOperations {
  return new Map([...grants].map(([id, { operations }]) => [id, operations]));
}
