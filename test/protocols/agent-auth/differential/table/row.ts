import type { Difference } from "../observation.js";

/** A place of a difference. An absent property matches anything; strings must be equal, patterns must match. */
interface Place {
  readonly endpoint?: RegExp;
  readonly step?: RegExp;
  readonly path: RegExp | string;
  readonly reference?: RegExp | string;
  readonly ours?: RegExp | string;
}

/** One row of the table: a behaviour in which specification, reference and our server are not all the same. */
export interface Row {
  readonly what: string;
  /** The specification's text, with its sections. */
  readonly text: string;
  readonly reference: string;
  readonly ours: string;
  /** The reason for our behaviour. */
  readonly why: string;
  /** The places where the reference and ours differ. */
  readonly places?: readonly Place[];
  /** The file, beside this folder, of a test that shows our behaviour, if there is no difference to the reference. */
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

/** Returns the differences that no row covers, and the rows that neither a difference nor another test shows. */
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
