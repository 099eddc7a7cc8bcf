import { AsyncLocalStorage } from "node:async_hooks";

/** A write in which the code runs that asks for it. */
export interface Scope {
  /** What it writes to. */
  readonly of: object;
  readonly outer: Scope | undefined;
  over: boolean;
}

// Up to Node 22, it costs time at every promise of the process until it is disabled: it is on only while calls
// write. At other times no write is under way.
const SCOPES = new AsyncLocalStorage<Scope>();
/** Transactions, of all databases, in which calls write now. */
let writing = 0;

/** A transaction begins in which calls write. */
export function scopesStart(): void {
  writing += 1;
}

/** A transaction ends in which calls have written. */
export function scopesEnd(): void {
  writing -= 1;
  if (writing === 0) SCOPES.disable();
}

/** Runs what a call writes, between `scopesStart` and `scopesEnd`. */
export function inScope<T>(scope: Scope, action: () => T): T {
  return SCOPES.run(scope, action);
}

/** The innermost write that is not over. */
export function underWay(): Scope | undefined {
  let scope = SCOPES.getStore();
  while (scope?.over === true) scope = scope.outer;
  return scope;
}
