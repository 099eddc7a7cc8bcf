import type { Compilable, CompiledQuery, Kysely, QueryResult } from "kysely";

/** What a query of fixed form is given each time. */
type Values = { readonly [name: string]: string | number | null };

/** Stands in a query for a value that comes later. */
class Later {
  readonly name: string;

  constructor(name: string) {
    this.name = name;
  }
}

/** Runs a query of fixed form with values, in a database or in a transaction of it. */
export type FixedQuery<Tables, Given extends Values, Row> = (
  db: Kysely<Tables>,
  values: Given,
) => Promise<QueryResult<Row>>;

/**
 * A query whose text never changes: built and compiled once for each database, where Kysely alone does both at
 * each call, which takes longer than SQLite takes to run it.
 *
 * @param build - Builds it, with `later` in the place of each value: of the type that the column has.
 */
export function fixedQuery<Tables, Given extends Values, Row>(
  build: (
    db: Kysely<Tables>,
    later: <Name extends keyof Given & string>(name: Name) => Given[Name],
  ) => Compilable<Row>,
): FixedQuery<Tables, Given, Row> {
  // Kysely has one adapter for each database, and for all of its transactions.
  const compiled = new WeakMap<object, CompiledQuery<Row>>();
  const compiledFor = (db: Kysely<Tables>): CompiledQuery<Row> => {
    const { adapter } = db.getExecutor();
    const known = compiled.get(adapter);
    if (known !== undefined) return known;
    const made = build(db, laterOf).compile();
    compiled.set(adapter, made);
    return made;
  };
  return (db, values) => {
    const query = compiledFor(db);
    const parameters = query.parameters.map((one) =>
      one instanceof Later ? values[one.name] : one,
    );
    return db.executeQuery({ ...query, parameters });
  };
}

/** To Kysely it is a value like any other. */
function laterOf<T>(name: string): T {
  return new Later(name) as T;
}
