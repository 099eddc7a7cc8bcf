import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { readClosedLists } from "../../cli/closed-list-expression.js";
import { readLimits } from "../../cli/limit-expression.js";
import { closedListExpression, limitExpressions, nameList } from "../../cli/limit-words.js";
import { readNames } from "../../cli/name-list.js";
import type { ArgumentConstraint, Hop } from "../../src/caveats/hop.js";
import { normalizeHop } from "../../src/caveats/write-hop.js";
import { anyHop } from "../caveats/arbitraries.js";
import { anyCharacter } from "../support/any-character.js";
import { sized } from "../support/size.js";

const RUNS = sized(8000, 250, 20_000);

/** Any name, and names made of the characters and words that expressions use. */
const name: fc.Arbitrary<string> = fc.oneof(
  fc.string({ unit: anyCharacter, minLength: 1, maxLength: 8 }),
  fc
    .array(
      fc.constantFrom(
        "?",
        ":",
        "=",
        "<=",
        " in ",
        " absent",
        "*",
        ",",
        '"',
        "/",
        "~1",
        "a",
        " ",
        "1",
        "\n",
        "true",
        "\\",
      ),
      { minLength: 1, maxLength: 4 },
    )
    .map((parts) => parts.join("")),
);
const operation = name.filter((text) => text !== "*");
const argument = name.filter((text) => !text.startsWith("/"));

describe("the command line options written for a hop", () => {
  test("yield the same limits when they are parsed again", () => {
    let read = 0;
    fc.assert(
      fc.property(anyHop, ({ operationConstraints }) => {
        // A URL with the path / is written without a path. Both allow the same URLs.
        if (operationConstraints === undefined) return;
        if (JSON.stringify(operationConstraints).includes('"path":"/"')) return;
        read++;
        expect(normalized(readLimits(limitExpressions(operationConstraints)))).toEqual(
          normalized({ operationConstraints }),
        );
      }),
      { numRuns: RUNS },
    );
    expect(read).toBeGreaterThan(RUNS / 10);
  });

  test("yield the same limits whatever characters names and values contain", () => {
    const limit: fc.Arbitrary<ArgumentConstraint> = fc.oneof(
      name,
      fc.record({
        in: fc.array(fc.oneof(name, fc.double({ noNaN: true, noDefaultInfinity: true })), {
          minLength: 1,
        }),
      }),
      fc.record({ prefix: name }),
      fc.record({
        min: fc.double({ noNaN: true, noDefaultInfinity: true }),
        optional: fc.constant<true>(true),
      }),
      fc.record({ each: fc.record({ in: fc.array(name, { minLength: 1 }) }) }),
    );
    fc.assert(
      fc.property(operation, argument, limit, (op, arg, one) => {
        const operationConstraints = { [op]: { [arg]: one } };
        expect(normalized(readLimits(limitExpressions(operationConstraints)))).toEqual(
          normalized({ operationConstraints }),
        );
      }),
      { numRuns: RUNS },
    );
  });

  test("yield the same operations and closed lists of arguments when they are parsed again", () => {
    fc.assert(
      fc.property(operation, fc.uniqueArray(name), (op, names) => {
        expect(readNames("--op", [nameList([op, ...names])])).toEqual([op, ...names]);
        expect(readClosedLists([closedListExpression(op, names)])).toEqual({ [op]: names });
      }),
      { numRuns: RUNS },
    );
  });
});

function normalized(hop: Hop): Hop {
  return normalizeHop(hop);
}
