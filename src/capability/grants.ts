import { NONE } from "../caveats/hop-rule.js";
import type { CheckedInvocation } from "../caveats/invocation.js";
import { repeated, shown, shownList } from "../caveats/scalar.js";
import { nearest } from "../checks/nearest.js";
import type { Denial } from "./denial.js";

/** The grants that an issuer knows, each with its operations. */
export type GrantOperations = ReadonlyMap<string, readonly string[]>;

/**
 * Returns the grants under which a service acts: those that the invocation names, or else the only known grant that
 * has the operation.
 *
 * @throws TypeError if the invocation does not determine the grant, or names an unknown grant.
 */
export function grantsInForce(
  { grants, operation }: CheckedInvocation,
  known: GrantOperations | undefined,
): readonly string[] {
  if (grants !== undefined) {
    for (const grant of grants) if (known?.has(grant) === false) throw unknownGrant(grant, known);
    return grants;
  }
  if (known === undefined) {
    throw new TypeError(
      'invocation.grant must say under which grant this service acts, such as "documents:read": ' +
        "this issuer does not know its grants",
    );
  }
  const named = [...known.values()].flat();
  if (!named.includes(operation)) {
    const near = nearest(operation, named);
    const hint = near === undefined ? "known" : `did you mean ${shown(near)}? Known`;
    const operations = shownList([...new Set(named)]);
    throw new TypeError(
      `invocation.operation: no grant has ${shown(operation)}; ${hint} operations: ${operations}`,
    );
  }
  const having = [...known.keys()].filter((grant) => known.get(grant)?.includes(operation));
  const [only, ...more] = having;
  if (only !== undefined && more.length === 0) return [only];
  throw new TypeError(
    "invocation.grant must say under which grant this service acts: " +
      `the operation ${shown(operation)} belongs to ${shownList(having)}`,
  );
}

/** Returns the error for a grant that an issuer does not know. */
export function unknownGrant(grant: string, known: GrantOperations): TypeError {
  // Names of grants are similar, such as files:read and files:write, so list them instead of suggesting one.
  const names = shownList([...known.keys()]);
  return new TypeError(`this issuer has no grant ${shown(grant)}; it has ${names}`);
}

/**
 * Returns a denial if the token's grant is not in force, and a denial if the grant does not have the operation. The
 * hops make no difference (docs/spec.md, section 7).
 *
 * @param grant - The grant of the token.
 */
export function grantDenials(
  grant: string,
  operation: string,
  inForce: readonly string[],
  known: GrantOperations | undefined,
): readonly Denial[] {
  const operations = known?.get(grant);
  const has = operations === undefined || operations.includes(operation);
  if (has && inForce.includes(grant)) return NONE;
  const denials: Denial[] = [];
  const code = "grant_denied";
  if (!inForce.includes(grant)) {
    const message = `the token is for ${shown(grant)}, and this call is under ${shownList(inForce)}`;
    denials.push({ code, rule: "grant", expected: inForce, actual: grant, message });
  }
  if (!has) {
    const message = `the grant ${shown(grant)} does not have the operation ${shown(operation)}; it has ${shownList(operations)}`;
    denials.push({
      code,
      rule: "operations",
      expected: operations,
      actual: repeated(operation),
      message,
    });
  }
  return denials;
}
