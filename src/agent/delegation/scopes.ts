import type { Suggest } from "../../caveats/nearest.js";
import type { KnownGrant } from "../grant.js";

/** What a scope stands for. */
export interface ScopeMeaning {
  readonly grant: string;
  readonly operations: readonly string[];
}

type ScopedGrant = Pick<KnownGrant, "id" | "operations">;

/** `GRANT` for all operations, `GRANT:OPERATION` for one; looked up whole, since grants have colons too. */
export class Scopes {
  readonly #meanings = new Map<string, ScopeMeaning>();
  readonly #grants: ReadonlyMap<string, ScopedGrant>;

  /** @throws TypeError naming every scope that would stand for more than one thing. */
  constructor(grants: ReadonlyMap<string, ScopedGrant>) {
    this.#grants = grants;
    const ambiguous: string[] = [];
    for (const { id, operations } of grants.values()) {
      const own = [
        { scope: id, operations },
        ...operations.map((one) => ({ scope: `${id}:${one}`, operations: [one] })),
      ];
      for (const { scope, operations: named } of own) {
        const taken = this.#meanings.get(scope);
        const meaning = { grant: id, operations: named };
        if (taken === undefined) this.#meanings.set(scope, meaning);
        else
          ambiguous.push(`"${scope}" would be ${words(taken, scope)} and ${words(meaning, scope)}`);
      }
    }
    if (ambiguous.length > 0) {
      throw new TypeError(`grants: scopes of delegation are ambiguous: ${ambiguous.join("; ")}`);
    }
  }

  /** @returns `undefined` for what is no scope. */
  read(scope: string): ScopeMeaning | undefined {
    return this.#meanings.get(scope);
  }

  /** The scope that was probably meant, as the end of a message. */
  hint(scope: string, suggest: Suggest): string {
    const near = suggest(scope, [...this.#meanings.keys()]);
    return near === undefined ? "" : `; did you mean "${near}"?`;
  }

  /** Scopes for operations of a grant: the grant alone if these are all that it has. */
  write(grant: string, operations: Iterable<string>): readonly string[] {
    const given = new Set(operations);
    const all = this.#grants.get(grant)?.operations;
    if (all?.every((operation) => given.has(operation)) === true) return [grant];
    return [...given].sort().map((operation) => `${grant}:${operation}`);
  }
}

function words({ grant }: ScopeMeaning, scope: string): string {
  if (scope === grant) return `the grant "${grant}"`;
  return `the operation "${scope.slice(grant.length + 1)}" of the grant "${grant}"`;
}
