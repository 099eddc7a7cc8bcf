import { describe, expect, test } from "vitest";
import { judge } from "../../cli/vectors/answer.js";
import type { Vector } from "../../cli/vectors/file.js";
import { checkTests, VECTORS } from "./support.js";

function withResult(result: string): Vector {
  const found = VECTORS.find((vector) => vector.test.result === result);
  if (found === undefined) throw new Error(`no vector is ${result}`);
  return found;
}

describe("judge()", () => {
  const refusal = { id: 1, result: "refused", denials: [{ code: "grant_denied" }] };

  test("passes a test that expects misuse if the answer is misuse, whatever else the answer says", () => {
    const value = { id: 1, result: "misuse", message: "no grant", denials: [] };
    expect(judge(withResult("misuse"), { kind: "answer", value })).toEqual({ status: "passed" });
  });

  test.each([
    ["refused: grant_denied", refusal],
    ["allowed, revocation ids rv_1", { id: 1, result: "allowed", revocationIds: ["rv_1"] }],
  ])("fails a test that expects misuse if the answer is: %s", (got, value) => {
    const outcome = judge(withResult("misuse"), { kind: "answer", value });
    expect(outcome).toEqual({ status: "failed", expected: "misuse", got });
  });

  test.each(["allowed", "refused", "valid", "invalid"])(
    "fails a test that expects %s if the answer is misuse",
    (result) => {
      const value = { id: 1, result: "misuse" };
      const outcome = judge(withResult(result), { kind: "answer", value });
      expect(outcome).toMatchObject({ status: "failed", got: "misuse" });
    },
  );
});

describe("the requests that are made from the vectors", () => {
  test("all name version 2 of the protocol", () => {
    const versions = VECTORS.map(({ request }) => Reflect.get(request, "protocol"));
    expect([...new Set(versions)]).toEqual([2]);
  });

  test("have the issuer's grants exactly if the test has grants", () => {
    const asked = VECTORS.flatMap(({ request }) => {
      const grants: unknown = Reflect.get(request, "grants");
      return grants === undefined ? [] : [grants];
    });
    expect(asked).toEqual(
      checkTests.flatMap(({ grants }) => (grants === undefined ? [] : [grants])),
    );
    expect(asked.length).toBeGreaterThan(25);
  });

  test("never have both arguments and argumentsText", () => {
    const asked = checkTests.map(({ invocation }) =>
      ["arguments", "argumentsText"].filter((name) => name in invocation),
    );
    expect(asked.filter((names) => names.length > 1)).toEqual([]);
    expect(asked.filter(([name]) => name === "argumentsText").length).toBeGreaterThan(5);
  });
});
