import { describe, expect, test } from "vitest";
import { overreaches } from "../../src/caveats/attenuation.js";
import { judgeHop } from "../../src/caveats/judge.js";
import { encodeHop } from "../../src/caveats/write-hop.js";
import { nearest, suggestions } from "../../src/checks/nearest.js";
import { append, denials, fixture, GET, mint } from "../capability/support.js";
import { asked } from "./support.js";

// The cost of comparing a string with a name is the product of their lengths, each plus one. An answer has a budget
// of 8,192. A denial beyond the budget has no suggestion.

const WORK = 8192;
const cost = (text: string, names: readonly string[]): number =>
  names.reduce((sum, name) => sum + (text.length + 1) * (name.length + 1), 0);

describe("the suggestions of one answer", () => {
  test("end for good when their budget of work is spent", () => {
    const names = ["retrieve", "search"];
    const each = cost("retreive", names);
    const suggest = suggestions(3 * each);
    const found = Array.from({ length: 5 }, () => suggest("retreive", names));
    expect(found).toEqual(["retrieve", "retrieve", "retrieve", undefined, undefined]);
    expect(suggest("a", ["b"])).toBeUndefined();
  });

  test("leave out a suggestion that would cost more than the rest of the budget", () => {
    const names = ["retrieve"];
    expect(suggestions(cost("retreive", names))("retreive", names)).toBe("retrieve");
    expect(suggestions(cost("retreive", names) - 1)("retreive", names)).toBeUndefined();
  });

  test("have a budget of 8,192 by default", () => {
    const long = "x".repeat(63);
    const names = [`${long}y`];
    const text = `${long}z`;
    const most = Math.floor(WORK / cost(text, names));
    const suggest = suggestions();
    const found = Array.from({ length: most + 1 }, () => suggest(text, names));
    expect(found.filter((near) => near !== undefined)).toHaveLength(most);
  });

  test("cost nothing for long strings and values that are not strings", () => {
    const suggest = suggestions(cost("retreive", ["retrieve"]));
    expect(suggest("x".repeat(65), ["retrieve"])).toBeUndefined();
    expect(suggest(7, ["retrieve"])).toBeUndefined();
    expect(suggest("retreive", ["retrieve"])).toBe("retrieve");
  });

  test("are limited by the budget, while nearest() alone is not", () => {
    const names = Array.from({ length: 64 }, (_, at) => `${at}`.padStart(64, "x"));
    const text = "y".padStart(64, "x");
    expect(cost(text, names)).toBeGreaterThan(WORK);
    expect(nearest(text, names)).toBeDefined();
    expect(suggestions()(text, names)).toBeUndefined();
  });
});

describe("the budget of suggestions is shared by all hops, arguments and members of an answer", () => {
  const names = Array.from({ length: 20 }, (_, at) => `operation_number_${at}`);
  const text = "operation_number_x";

  test("in authorize", () => {
    const { issuer } = fixture();
    const few = names.slice(0, 4);
    const hop = encodeHop({ operations: few });
    const token = Array.from({ length: 30 }).reduce<string>(
      (one) => append(one, hop),
      mint(issuer),
    );
    const found = denials(issuer.authorize(token, { ...GET, operation: text }));
    expect(found).toHaveLength(31);
    const near = found.filter((denial) => denial.nearest !== undefined);
    // The first hop, which is the issuer's, has "get" and "put"; comparing with them uses part of the budget.
    expect(near).toHaveLength(Math.floor((WORK - cost(text, ["get", "put"])) / cost(text, few)));
    // Denials without a suggestion have the same code.
    expect(new Set(found.map(({ code }) => code))).toEqual(new Set(["operation_denied"]));
  });

  test("in one hop's arguments", () => {
    const limits = Object.fromEntries(names.map((name) => [name, { in: names }]));
    const given = Object.fromEntries(names.map((name) => [name, text]));
    const found = judgeHop({ constraints: limits }, asked({ arguments: given }), 0);
    expect(found).toHaveLength(16);
    const near = found.filter((failure) => failure.nearest !== undefined);
    expect(near.length).toBe(Math.floor(WORK / cost(text, names)));
  });

  test("in overreaches()", () => {
    const wrong = Array.from({ length: 16 }, (_, at) => `operation_number_x${at}`);
    const found = overreaches({ operations: names }, { operations: wrong });
    const near = found.filter((problem) => problem.nearest !== undefined);
    expect(found).toHaveLength(16);
    expect(near.length).toBeLessThan(16);
    expect(near.length).toBeGreaterThan(0);
  });
});

describe("handles get no suggestions", () => {
  const hop = { resourceHandles: ["rh_AAAAAAAAAAAAAAAAAAAAAB"] };
  const near = "rh_AAAAAAAAAAAAAAAAAAAAAA";

  test("neither in denials nor in overreaches", () => {
    const [failure] = judgeHop(hop, asked({ resourceHandles: [near] }), 0);
    expect(failure).toMatchObject({ rule: "resourceHandles", actual: near });
    expect(failure).not.toHaveProperty("nearest");
    expect(failure?.message).not.toContain("did you mean");
    const [problem] = overreaches(hop, { resourceHandles: [near] });
    expect(problem).toMatchObject({ rule: "resourceHandles", value: near });
    expect(problem).not.toHaveProperty("nearest");
    expect(problem?.message).not.toContain("did you mean");
  });

  test("and use none of the answer's budget", () => {
    const many = Array.from({ length: 200 }, (_, at) => `rh_${`${at}`.padStart(22, "A")}`);
    const call = asked({ resourceHandles: [near], invoker: "agent-b" });
    const found = judgeHop({ resourceHandles: many, invokers: ["agent-a"] }, call, 0);
    expect(found.at(-1)).toMatchObject({ rule: "invokers", nearest: "agent-a" });
  });
});
