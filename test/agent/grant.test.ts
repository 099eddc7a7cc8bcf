import { describe, expect, test } from "vitest";
import { expandGrants } from "../../src/agent/grant.js";
import type { Skill } from "../../src/agent/skill.js";
import type { Grant } from "../../src/issuer/grant.js";
import { misuse } from "../caveats/support.js";

function skill(operation: string): Skill {
  const words = { id: operation, name: operation, description: operation };
  return { ...words, operation, reach: "named", input: { type: "object" }, run: async () => null };
}

const SKILLS = [skill("retrieve"), skill("list"), skill("update")];
const READ: Grant = { id: "read", description: "Read", operations: ["retrieve", "list"] };

/** Returns the message about invalid grants, which can come from an untyped configuration file. */
function wrong(...grants: readonly object[]): string {
  return misuse(() => expandGrants(JSON.parse(JSON.stringify(grants)), SKILLS));
}

describe("the grants of an agent", () => {
  test("get defaults for omitted properties; in a legacy grant, `*` becomes every operation of the skills", () => {
    const known = expandGrants(
      [
        READ,
        { id: "all", description: "All", operations: ["*"], legacy: true, requires: ["read"] },
      ],
      SKILLS,
    );
    expect(known[0]).toEqual({ ...READ, attenuable: true, legacy: false, requires: [] });
    expect(known[1]).toMatchObject({
      operations: ["list", "retrieve", "update"],
      requires: ["read"],
    });
  });

  test("may require each other without an error", () => {
    const grants = [
      { ...READ, requires: ["b"] },
      { ...READ, id: "b", requires: ["read"] },
    ];
    expect(expandGrants(grants, SKILLS)).toHaveLength(2);
  });
});

const ID = "must be 1 to 128 printable ASCII characters without spaces";

describe("a wrong grant is refused, and the message names its field", () => {
  test.each<[string, readonly object[], string]>([
    ["no grants at all", [], "grants: must be an array of at least one"],
    ["a grant that is not an object", [[READ]], "grants[0]"],
    [
      "an unknown property",
      [{ ...READ, legasy: true }],
      'grants[0].legasy: unknown property; did you mean "legacy"?',
    ],
    [
      "an inherited member's name",
      [{ ...READ, constructor: 1 }],
      "grants[0].constructor: unknown property",
    ],
    ["no id", [{ description: "Read", operations: ["list"] }], `grants[0].id: ${ID}`],
    ["a space in the id", [{ ...READ, id: "a b" }], `grants[0].id: ${ID}`],
    ["a letter that only looks Latin", [{ ...READ, id: "re\u0430d" }], `grants[0].id: ${ID}`],
    ["an id of 129 characters", [{ ...READ, id: "a".repeat(129) }], `grants[0].id: ${ID}`],
    ["an id twice", [READ, READ], 'grants[1].id: "read" is taken'],
    [
      "an empty description",
      [{ ...READ, description: "" }],
      "grants[0].description: must be a non-empty string",
    ],
    [
      "attenuable as text",
      [{ ...READ, attenuable: "no" }],
      "grants[0].attenuable: must be a boolean",
    ],
    ["recheck as text", [{ ...READ, recheck: "no" }], "grants[0].recheck: must be a boolean"],
    ["legacy as a number", [{ ...READ, legacy: 1 }], "grants[0].legacy: must be a boolean"],
    [
      "operations as text",
      [{ ...READ, operations: "list" }],
      "grants[0].operations: must be an array of strings",
    ],
    [
      "no operations",
      [{ ...READ, operations: [] }],
      "grants[0].operations: there must be at least one",
    ],
    [
      "an operation that is not a string",
      [{ ...READ, operations: ["list", 7] }],
      "grants[0].operations[1]: must be a non-empty string",
    ],
    [
      "an operation that no skill has",
      [READ, { ...READ, id: "b", operations: ["updaet"] }],
      'grants[1].operations[0]: no skill has the operation "updaet"; did you mean "update"?',
    ],
    [
      "* without legacy",
      [{ ...READ, operations: ["*"] }],
      'grants[0].operations: "*" must be the only operation',
    ],
    [
      "* beside other operations",
      [{ ...READ, legacy: true, operations: ["*", "list"] }],
      'grants[0].operations: "*" must be the only operation',
    ],
    [
      "requires as text",
      [{ ...READ, requires: "read" }],
      "grants[0].requires: must be an array of strings",
    ],
    [
      "a grant that requires itself",
      [{ ...READ, requires: ["read"] }],
      "grants[0].requires[0]: a grant cannot require itself",
    ],
    [
      "a required grant that does not exist",
      [{ ...READ, requires: ["reed"] }],
      'grants[0].requires[0]: there is no grant "reed"; did you mean "read"?',
    ],
  ])("%s", (_, grants, message) => {
    expect(wrong(...grants)).toContain(message);
  });

  test("grants that are not an array", () => {
    expect(misuse(() => expandGrants(JSON.parse("{}"), SKILLS))).toMatch(/^grants: /);
  });
});
