import type { GrantOperations } from "../capability/grants.js";
import { described } from "../checks/kinds.js";
import { plainCopy, plainObject } from "../checks/plain.js";

/** A named set of operations, for which an issuer mints capabilities. */
export interface Grant {
  /** The grant's id, such as `documents:read`: 1 to 128 printable ASCII characters without spaces. */
  readonly id: string;
  /** The operations that the grant allows. */
  readonly operations: readonly string[];
  /**
   * A description for people and agents that choose among grants. An issuing agent requires every grant to have one.
   */
  readonly description?: string;
  /** `true` if holders may attenuate capabilities of the grant; by default `true` unless the grant is `legacy`. */
  readonly attenuable?: boolean;
  /**
   * `true` for a wrapper around a system without capabilities: requests need not name resources, and the ledger marks
   * every use.
   */
  readonly legacy?: boolean;
  /** Ids of grants that must be requested together with this grant. */
  readonly requires?: readonly string[];
  /**
   * `true` to check at each call that resources still match the query by which they were requested. By default, this
   * is checked only if the principal's policy for the grant has conditions on fields.
   */
  readonly recheck?: boolean;
  /**
   * The approval needed before anything is issued under the grant. If absent, everything that the policy allows is
   * issued at once.
   */
  readonly approval?: GrantApproval;
}

/** The approvers, and the number of approvals needed. */
export interface GrantApproval {
  /** Principals who may approve; by default, the user on whose behalf the request is made. */
  readonly approvers?: readonly string[];
  /** Number of approvals needed; 1 by default. */
  readonly needed?: number;
  /**
   * Seconds that a request may wait for a decision; after the decision, the result waits as long again to be
   * collected. At most 30 days. The default is 1 day; for registered agents, the setting of the parties.
   */
  readonly lifetime?: number;
}

const ID = /^[\x21-\x7e]{1,128}$/;

/**
 * Returns the grants by their ids.
 *
 * @throws TypeError that names the wrong field, such as `grants[1].operations`.
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
 * Returns a copy of an array of strings.
 *
 * @throws TypeError that names the value that is not an array of non-empty strings.
 */
export function texts(value: unknown, where: string): readonly string[] {
  if (!Array.isArray(value)) {
    throw new TypeError(`${where}: must be an array of strings, not ${described(value)}`);
  }
  return value.map((item: unknown, at) => {
    if (typeof item === "string" && item !== "") return item;
    throw new TypeError(`${where}[${at}]: must be a non-empty string`);
  });
}

/** Returns the operations of each grant, by the grant's id. */
export function operationsOf(grants: ReadonlyMap<string, Grant>): GrantOperations {
  return new Map([...grants].map(([id, { operations }]) => [id, operations]));
}
