// What a statement of SQLite answers.

/** @import Database from "libsql" */

/**
 * @param {Database.Statement<unknown[]>} statement
 * @param {(string | number)[]} values
 * @returns {{ [column: string]: unknown }[]}
 */
export function rows(statement, ...values) {
  return statement.all(...values).map((row) => {
    if (typeof row === "object" && row !== null) return { ...row };
    throw new Error("the index answered something else than rows");
  });
}
