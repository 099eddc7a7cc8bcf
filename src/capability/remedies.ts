import { applyRemedies, planRemedies } from "../caveats/argument-remedies.js";
import type { Authority } from "../caveats/authority.js";
import { authorityOver } from "../caveats/operation-authority.js";
import type { Denial } from "./denial.js";

/**
 * A refusal with more denials gets no remedies: protocols pass on only 32 denials, and a part of the remedies would not
 * make the call allowed.
 */
const MOST_REMEDIES = 32;

interface RefusedCall {
  readonly operation: string;
  readonly arguments: { readonly [name: string]: unknown };
}

/**
 * Adds a remedy to each denial if all these remedies together make the call allowed. Otherwise adds no remedy, for
 * example if a denial is about anything but an argument.
 *
 * A remedy reveals only what the hops of the token say, and the holder of the token can read these.
 *
 * @param authority - Returns the authority that remains after all hops of all tokens that must allow the call.
 * @param isAllowed - Returns whether the call is allowed with the given arguments.
 */
export function withRemedies<One extends Refusing>(
  denials: readonly [One, ...One[]],
  call: RefusedCall,
  authority: () => Authority,
  isAllowed: (given: RefusedCall["arguments"]) => boolean,
): readonly [One, ...One[]] {
  // A denial with `more` also stands in for denials that were left out. A remedy would not change the arguments that
  // the omitted denials are about.
  const isOfOneArgument = ({ code, more }: Refusing): boolean =>
    code === "constraint_violated" && more === undefined;
  if (denials.length > MOST_REMEDIES || !denials.every(isOfOneArgument)) return denials;
  const { operation, arguments: given } = call;
  const plan = planRemedies(authorityOver(operation, authority()), operation, given) ?? [];
  const remedies = denials.map((denial) => plan.find((one) => one.isFor(denial))?.remedy);
  const found = remedies.filter((remedy) => remedy !== undefined);
  if (found.length < denials.length || !isAllowed(applyRemedies(given, found))) return denials;
  const [first, ...others] = denials;
  const [remedy, ...more] = found;
  return [{ ...first, remedy }, ...others.map((denial, at) => ({ ...denial, remedy: more[at] }))];
}

type Refusing = Pick<Denial, "rule" | "actual" | "more" | "remedy"> & { readonly code: string };
