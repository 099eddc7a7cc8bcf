import { hash } from "node:crypto";
import type { Approval } from "../../agent/parties/records.js";
import { allowsArgument } from "../../caveats/argument-domain.js";
import { argumentName, readArgumentName } from "../../caveats/argument-pointer.js";
import type { Authority } from "../../caveats/authority.js";
import { authorityOver, leftOfArgument } from "../../caveats/operation-authority.js";
import type { Argument } from "./arguments.js";
import { type AskedView, type Reading, viewOf } from "./asked-view.js";

/** The form fields for limiting one requested grant. */
export interface GrantFields extends AskedView {
  readonly arguments: readonly ArgumentFields[];
  /** All operations that the request still allows. */
  readonly left: readonly string[];
  /** The operations that the user can deselect; empty if the grant has only one operation. */
  readonly operations: readonly string[];
  /** The operations for which the user can forbid further arguments, with their fields. */
  readonly closable: readonly ClosableFields[];
  /** The rows in which the user can name an argument and limit it. */
  readonly others: readonly OtherFields[];
  /** The name of the field that grants the capability. */
  readonly granted: string;
  readonly keep: string;
}

/** An argument, and the names of the fields for its limits. */
export interface ArgumentFields {
  readonly argument: Argument;
  readonly min: string;
  readonly max: string;
  readonly in: string;
  readonly not_in: string;
  readonly path: string;
  readonly url: string;
}

/** An operation for which the user can forbid further arguments. `closed` is the name of the field for this choice. */
interface ClosableFields {
  readonly operation: string;
  /**
   * The arguments that remain possible after this choice: those that schemas or limits name, unless a limit
   * excludes them.
   */
  readonly names: readonly string[];
  readonly closed: string;
}

/** The names of the fields in a row for an argument that the user names. */
export interface OtherFields {
  readonly name: string;
  readonly rule: string;
  readonly values: string;
}

/** All fields of the form for an approval. */
export interface ApprovalFields {
  readonly asked: readonly AskedView[];
  /** The requested grants that the user can limit. */
  readonly grants: readonly GrantFields[];
  /**
   * A digest of all fields. If a sent form has another digest, the request or the agent's skills have changed
   * since the page was made.
   */
  readonly form: string;
}

const OTHER_ROWS = 2;
/** The name of the field that binds every granted capability to the agent. */
export const BIND = "bind";

export function fieldsOf(
  { subject, digest }: Pick<Approval, "subject" | "digest">,
  desk: Reading,
): ApprovalFields {
  const asked = subject.asked.map((one, place) => viewOf(one, place, desk));
  // If the user takes over an agent, the agent ends, so its grants need no limits.
  const grants = subject.kind === "agent-claim" ? [] : asked.map(grantFields);
  const shape = grants.map((fields) => [
    fields.arguments.map(({ argument }) => argument),
    fields.operations,
    fields.closable,
    fields.others.length,
    fields.changes,
  ]);
  const form = hash("sha256", JSON.stringify([digest, shape]), "base64url");
  return { asked, grants, form };
}

function grantFields(view: AskedView): GrantFields {
  const { place, asked, authority } = view;
  const { known, open } = view.limitable;
  const operations = authority.operations ?? asked.operations;
  const name = (...parts: readonly (string | number)[]): string => ["g", place, ...parts].join("-");
  return {
    ...view,
    arguments: known.map((argument, at) => ({
      argument: stillAllowed(argument, operations, authority),
      min: name(at, "min"),
      max: name(at, "max"),
      in: name(at, "in"),
      not_in: name(at, "not"),
      path: name(at, "path"),
      url: name(at, "url"),
    })),
    left: operations,
    operations: operations.length > 1 ? operations : [],
    closable: closableIn(view, operations).map((one, at) => ({
      ...one,
      closed: name("closed", at),
    })),
    others: Array.from({ length: open ? OTHER_ROWS : 0 }, (_, row) => ({
      name: name("other", row, "name"),
      rule: name("other", row, "rule"),
      values: name("other", row, "values"),
    })),
    granted: name("granted"),
    keep: name("keep"),
  };
}

/** Returns the operations that have known arguments, and whose calls may have further ones. */
function closableIn(
  { authority, limitable: { shown } }: AskedView,
  operations: readonly string[],
): readonly Omit<ClosableFields, "closed">[] {
  return operations.flatMap((operation) => {
    const { limited, closed } = authorityOver(operation, authority);
    const named = [...limited]
      .filter(([, { types }]) => types.length > 0)
      .map(([name]) => readArgumentName(name)?.[0] ?? name);
    const known = [...new Set([...(shown.get(operation) ?? []), ...named])];
    const names = known.filter((name) => closed?.includes(name) !== false);
    const isClosed = closed?.every((name) => names.includes(name)) === true;
    return names.length === 0 || isClosed ? [] : [{ operation, names }];
  });
}

/** Returns the argument without the choices that existing limits forbid for all operations. */
function stillAllowed(
  { choices, ...argument }: Argument,
  operations: readonly string[],
  authority: Authority,
): Argument {
  const domains = operations.map((operation) =>
    leftOfArgument(authorityOver(operation, authority), argumentName([argument.name])),
  );
  const left = choices?.filter((choice) =>
    domains.some((domain) => allowsArgument(domain, choice)),
  );
  return left === undefined ? argument : { ...argument, choices: left };
}

export function namesOf({ grants }: ApprovalFields): ReadonlySet<string> {
  const names = ["csrf", "digest", "form", "answer", "reason", "lifetime", "unit", BIND];
  for (const { arguments: known, closable, others, granted, keep } of grants) {
    names.push(granted, keep);
    for (const fields of known) {
      names.push(fields.min, fields.max, fields.in, fields.not_in, fields.path, fields.url);
    }
    for (const { closed } of closable) names.push(closed);
    for (const fields of others) names.push(fields.name, fields.rule, fields.values);
  }
  return new Set(names);
}
