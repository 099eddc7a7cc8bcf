import { QueryCreator, type QueryExecutor, type QueryExecutorProvider } from "kysely";

/** Runs queries; does not begin or end transactions. */
export type Queries<Tables> = QueryCreator<Tables> & QueryExecutorProvider;

/**
 * Wraps a shared transaction for one of its callers. After `end`, every query is rejected, including one that
 * was issued earlier and has not begun.
 */
export class CallerQueries<Tables> extends QueryCreator<Tables> implements QueryExecutorProvider {
  readonly #executor: QueryExecutor;
  readonly #end: () => void;

  constructor(shared: QueryExecutorProvider) {
    let isOver = false;
    const transaction = shared.getExecutor();
    const executor = transaction.withConnectionProvider({
      provideConnection: (consumer) =>
        transaction.provideConnection(async (connection) => {
          if (isOver) throw new TypeError("this transaction is over");
          return consumer(connection);
        }),
    });
    super({ executor });
    this.#executor = executor;
    this.#end = () => {
      isOver = true;
    };
  }

  getExecutor(): QueryExecutor {
    return this.#executor;
  }

  end(): void {
    this.#end();
  }
}
