/**
 * What an issuing agent must decide, worked out without any of its code: a capability is a path of
 * links in a tree, and a call is allowed if every link allows it and none is revoked.
 */

/** One link of delegation: what it leaves, where it says anything. */
export interface Link {
  readonly parent?: Link;
  readonly operations?: readonly string[];
  /** Titles of documents. */
  readonly documents?: readonly string[];
  readonly invokers?: readonly string[];
  /** The largest amount. */
  readonly most?: number;
  /** When its revocation was asked for, and acknowledged; on the clock of the callers. */
  revoking?: number;
  revoked?: number;
}

/** A capability as it was issued, with what is known of it outside its token. */
export interface Root {
  readonly id: string;
  readonly principal: string;
  readonly invoker: string;
  /** By title; none for a capability without resources. */
  readonly handles: ReadonlyMap<string, string>;
}

/** A token that somebody holds. */
export interface Held {
  readonly token: string;
  readonly root: Root;
  readonly link: Link;
}

/** A call, as the model sees it. */
export interface ModelCall {
  readonly operation: string;
  readonly invoker: string;
  /** The document whose handle is in the arguments; `foreign` for another capability's. */
  readonly document?: string;
  readonly amount?: number;
  /** When it was sent, and when it was answered. */
  readonly sent: number;
  readonly answered: number;
}

/** What may come of a call: more than one thing where a revocation was under way meanwhile. */
export interface Expected {
  /** Each the codes of the denials; none where the call is allowed. */
  readonly outcomes: readonly ReadonlySet<string>[];
}

/** The links from a capability's own to the last. */
function pathOf(link: Link): readonly Link[] {
  const path: Link[] = [];
  for (let at: Link | undefined = link; at !== undefined; at = at.parent) path.unshift(at);
  return path;
}

/** The documents that are left at the end of a path; `undefined` where no link names any. */
export function documentsLeft(link: Link): readonly string[] | undefined {
  let left: readonly string[] | undefined;
  for (const { documents } of pathOf(link)) {
    if (documents === undefined) continue;
    left = left === undefined ? documents : left.filter((title) => documents.includes(title));
  }
  return left;
}

/** The operations that are left at the end of a path. */
export function operationsLeft(link: Link): readonly string[] {
  let left: readonly string[] = [];
  for (const { operations, parent } of pathOf(link)) {
    if (operations === undefined) continue;
    left = parent === undefined ? operations : left.filter((one) => operations.includes(one));
  }
  return left;
}

/** The operations of the agent's grants. */
const GRANTS: readonly (readonly string[])[] = [["retrieve", "search"], ["pay"]];

/** Whether the grant that a path begins with has the operation. */
function isGranted([root]: readonly Link[], operation: string): boolean {
  const named = root?.operations ?? [];
  const grant = GRANTS.find((all) => named.every((one) => all.includes(one)));
  return grant?.includes(operation) === true;
}

/** What must come of a call with a token whose signatures hold. */
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
