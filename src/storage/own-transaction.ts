import { type Dialect, type Driver, Transaction } from "kysely";

/** One of several calls that write in a transaction. */
export interface Owner {
  readonly over: boolean;
}

/** By the executor of its own transaction: queries of fixed form run past it. */
const owners = new WeakMap<object, Owner>();

const refused = (): never => {
  throw new TypeError("a call neither begins nor ends the transaction that it shares");
};
const DRIVER: Driver = {
  init: refused,
  acquireConnection: refused,
  beginTransaction: refused,
  commitTransaction: refused,
  rollbackTransaction: refused,
  releaseConnection: refused,
  destroy: refused,
};
const DIALECT: Dialect = {
  createDriver: refused,
  createQueryCompiler: refused,
  createAdapter: refused,
  createIntrospector: refused,
};

const CONFIG = { dialect: DIALECT };

/**
 * A transaction as one of the calls has it that share it: nothing that this call asks for runs once the call is
 * over, whether it asks then or has asked before and did not wait.
 */
export function ownTransaction<Tables>(
  transaction: Transaction<Tables>,
  owner: Owner,
): Transaction<Tables> {
  const shared = transaction.getExecutor();
  // Whatever Kysely derives from this, with other plugins or another schema, asks it for the connection.
  const executor = shared.withConnectionProvider({
    provideConnection: (consumer) =>
      shared.provideConnection(async (connection) => {
        if (owner.over) throw over();
        return consumer(connection);
      }),
  });
  owners.set(executor, owner);
  return new Transaction({ config: CONFIG, dialect: DIALECT, driver: DRIVER, executor });
}

/**
 * Asked right before a query of fixed form runs.
 *
 * @throws TypeError unless it runs in no transaction, or in that of a call that is not over.
 */
export function assertNotOver(db: {
  readonly isTransaction: boolean;
  getExecutor(): object;
}): void {
  if (db.isTransaction && owners.get(db.getExecutor())?.over !== false) throw over();
}

function over(): TypeError {
  return new TypeError("this transaction is over");
}
