import type { Difference } from "../observation.js";

/** Why our server answers otherwise. */
type Reason =
  /** The reference does what the text forbids, or what is unsafe. */
  | "bug of theirs"
  /** The text says nothing, or says it both ways. */
  | "gap in the text"
  /** Ours has more, or is stricter, on purpose. */
  | "our decision";

/** Where a difference is seen; what is absent is not asked for. Texts must be equal, patterns must match. */
interface Place {
  readonly endpoint?: RegExp;
  readonly step?: RegExp;
  readonly path: RegExp | string;
  readonly reference?: RegExp | string;
  readonly ours?: RegExp | string;
}

/** One line of the table of differences. */
export interface Row {
  readonly what: string;
  readonly reference: string;
  readonly ours: string;
  readonly reason: Reason;
  readonly why: string;
  readonly places: readonly Place[];
}

/** Rows about one subject, in the order of the page. */
export interface Section {
  readonly title: string;
  readonly rows: readonly Row[];
}

function covers(row: Row, difference: Difference): boolean {
  return row.places.some(
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

/** The differences that no row covers, and the rows that cover no difference. */
export function explained(
  sections: readonly Section[],
  differences: readonly Difference[],
): { readonly unexplained: readonly Difference[]; readonly unobserved: readonly string[] } {
  const rows = sections.flatMap((section) => section.rows);
  const unexplained = differences.filter((one) => !rows.some((row) => covers(row, one)));
  const unobserved = rows.filter((row) => !differences.some((one) => covers(row, one)));
  return { unexplained, unobserved: unobserved.map(({ what }) => what) };
}
