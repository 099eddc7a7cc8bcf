/**
 * A model of an issuing agent's decisions, independent of the agent's code. A capability is a path of links in
 * a tree. A call is allowed if every link of the path allows it and no link is revoked.
 */

/** One link of delegation, with its restrictions. */
export interface Link {
  readonly parent?: Link;
  readonly operations?: readonly string[];
  /** Titles of the allowed documents. */
  readonly documents?: readonly string[];
  readonly invokers?: readonly string[];
  /** The largest allowed amount. */
  readonly most?: number;
  /** Times when a caller requested the link's revocation and got the answer, by the callers' clock. */
  revoking?: number;
  revoked?: number;
}

/** An issued capability, with facts that are not in its token. */
export interface Root {
  readonly id: string;
  readonly principal: string;
  readonly invoker: string;
  /** Handles by title; empty for a capability without resources. */
  readonly handles: ReadonlyMap<string, string>;
}

/** A token, with its capability and its last link. */
export interface Held {
  readonly token: string;
  readonly root: Root;
  readonly link: Link;
}

/** A call as the model sees it. */
export interface ModelCall {
  readonly operation: string;
  readonly invoker: string;
  /** The document whose handle is in the arguments; `foreign` for a handle of another capability. */
  readonly document?: string;
  readonly amount?: number;
  /** Times when the call was sent and answered, by the callers' clock. */
  readonly sent: number;
  readonly answered: number;
}

/** The possible outcomes of a call. There are several if a revocation was in progress. */
export interface Expected {
  /** Sets of denial codes; an empty set means that the call is allowed. */
  readonly outcomes: readonly ReadonlySet<string>[];
}

/** Returns the links of a path, from the capability's own link to the last link. */
function pathOf(link: Link): readonly Link[] {
  const path: Link[] = [];
  for (let at: Link | undefined = link; at !== undefined; at = at.parent) path.unshift(at);
  return path;
}

/** Returns the documents that all links of a path allow; `undefined` if no link limits the documents. */
export function documentsLeft(link: Link): readonly string[] | undefined {
  let left: readonly string[] | undefined;
  for (const { documents } of pathOf(link)) {
    if (documents === undefined) continue;
    left = left === undefined ? documents : left.filter((title) => documents.includes(title));
  }
  return left;
}

/** Returns the operations allowed by all links of a path. */
export function operationsLeft(link: Link): readonly string[] {
  let left: readonly string[] = [];
  for (const { operations, parent } of pathOf(link)) {
    if (operations === undefined) continue;
    left = parent === undefined ? operations : left.filter((one) => operations.includes(one));
  }
  return left;
}

/** The operations of each grant of the agent. */
const GRANTS: readonly (readonly string[])[] = [["retrieve", "search"], ["pay"]];

/** Returns whether the grant of a path's capability has the operation. */
function isGranted([root]: readonly Link[], operation: string): boolean {
  const named = root?.operations ?? [];
  const grant = GRANTS.find((all) => named.every((one) => all.includes(one)));
  return grant?.includes(operation) === true;
}

/** Returns the possible outcomes of a call with a token whose signature is valid. */
export function expected(link: Link, call: ModelCall): Expected {
  const path = pathOf(link);
  const codes = new Set<string>();
  if (!isGranted(path, call.operation)) codes.add("grant_denied");
  for (const { operations, documents, invokers, most } of path) {
    if (operations !== undefined && !operations.includes(call.operation))
      codes.add("operation_denied");
    if (invokers !== undefined && !invokers.includes(call.invoker)) codes.add("invoker_denied");
    if (most !== undefined && (call.amount === undefined || call.amount > most)) {
      codes.add("constraint_violated");
    }
    if (documents === undefined || call.operation === "search") continue;
    if (call.document === undefined || !documents.includes(call.document))
      codes.add("resource_denied");
  }
  const before = path.some(({ revoked }) => revoked !== undefined && revoked <= call.sent);
  const during = path.some(({ revoking }) => revoking !== undefined && revoking <= call.answered);
  const dead = new Set([...codes, "revoked"]);
  if (before) return { outcomes: [dead] };
  return { outcomes: during ? [codes, dead] : [codes] };
}
