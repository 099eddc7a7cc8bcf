import type { Difference } from "../observation.js";

/** Where a difference is seen; what is absent is not asked for. Texts must be equal, patterns must match. */
interface Place {
  readonly endpoint?: RegExp;
  readonly step?: RegExp;
  readonly path: RegExp | string;
  readonly reference?: RegExp | string;
  readonly ours?: RegExp | string;
}

/** One line of the table: a behaviour in which the text, the reference and our server are not all the same. */
export interface Row {
  readonly what: string;
  /** What the specification says, with its sections. */
  readonly text: string;
  readonly reference: string;
  readonly ours: string;
  /** Why ours does what it does. */
  readonly why: string;
  /** Where the reference and ours differ. */
  readonly places?: readonly Place[];
  /** A test that shows ours, where the reference does the same or was not asked: a file beside this folder. */
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

/** The differences that no row covers, and the rows that neither a difference nor another test shows. */
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
