import { type CompiledQuery, createQueryId, type Transaction } from "kysely";

/** One of several calls that write in a transaction. */
export interface Owner {
  readonly over: boolean;
}

/** By the executor of its own transaction, and by the id of each of its queries. */
const owners = new WeakMap<object, Owner>();

/**
 * A transaction as one of the calls has it that share it: nothing that this call asks for runs once the call is
 * over, whether it asks then or has asked before and did not wait.
 */
export function ownTransaction<Tables>(
  transaction: Transaction<Tables>,
  owner: Owner,
): Transaction<Tables> {
  const own = transaction.withPlugin({
    transformQuery({ node, queryId }) {
      owners.set(queryId, owner);
      return node;
    },
    transformResult: async ({ result }) => result,
  });
  owners.set(own.getExecutor(), owner);
  return own;
}

/** A query that was compiled elsewhere, as one of the call that has this executor. */
export function ownQuery<Row>(executor: object, query: CompiledQuery<Row>): CompiledQuery<Row> {
  const owner = owners.get(executor);
  if (owner === undefined) return query;
  const queryId = createQueryId();
  owners.set(queryId, owner);
  return { ...query, queryId };
}

/**
 * Asked when a query is about to run.
 *
 * @param of - Its id, or the executor that is to run it.
 * @throws TypeError if the call is over that it belongs to.
 */
export function assertNotOver(of: object): void {
  if (owners.get(of)?.over === true) throw new TypeError("this transaction is over");
}
