import type { Difference } from "../observation.js";

/** Matches differences. An absent property matches any value; a string must be equal, and a pattern must match. */
interface Place {
  readonly endpoint?: RegExp;
  readonly step?: RegExp;
  readonly path: RegExp | string;
  readonly reference?: RegExp | string;
  readonly ours?: RegExp | string;
}

/** One row of the table: a behaviour in which the specification, the reference and our server do not all agree. */
export interface Row {
  readonly what: string;
  /** The text of the specification, with the numbers of its sections. */
  readonly text: string;
  readonly reference: string;
  readonly ours: string;
  /** The reason for our behaviour. */
  readonly why: string;
  /** Patterns of the places where the reference and our server differ. */
  readonly places?: readonly Place[];
  /**
   * The file name of a test in test/protocols/agent-auth that shows the behaviour, if our server and the reference do
   * not differ.
   */
  readonly shown?: string;
}

/** Rows about one subject, in the order of the page. */
export interface Section {
  readonly title: string;
  readonly rows: readonly Row[];
}

function covers({ places = [] }: Row, difference: Difference): boolean {
  return places.some(
    ({ endpoint, step, path, reference, ours }) =>
      (endpoint?.test(difference.endpoint) ?? true) &&
      (step?.test(difference.step) ?? true) &&
      isLike(difference.path, path) &&
      isLike(difference.reference, reference) &&
      isLike(difference.ours, ours),
  );
}

function isLike(text: string, like: RegExp | string | undefined): boolean {
  return like === undefined || (typeof like === "string" ? like === text : like.test(text));
}

/**
 * Returns the differences that match no row. Also returns the rows that match no difference and that no other test
 * shows.
 */
export function explained(
  sections: readonly Section[],
  differences: readonly Difference[],
): { readonly unexplained: readonly Difference[]; readonly unobserved: readonly string[] } {
  const rows = sections.flatMap((section) => section.rows);
  const unexplained = differences.filter((one) => !rows.some((row) => covers(row, one)));
  const unobserved = rows.filter(
    (row) => row.shown === undefined && !differences.some((one) => covers(row, one)),
  );
  return { unexplained, unobserved: unobserved.map(({ what }) => what) };
}
