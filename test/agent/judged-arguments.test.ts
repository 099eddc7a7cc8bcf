import { expect, test } from "vitest";
import type { Clearance } from "../../src/agent/clearance.js";
import type { Skill } from "../../src/agent/index.js";
import type { Json, JsonObject } from "../../src/bytes/json.js";
import { attenuated } from "../capability/support.js";
import { ALICE, grantedOne, type World, world } from "./support.js";

// A skill runs with the arguments that were judged, even if the caller's code changes its objects in the
// meantime.

const GRANTS = [{ id: "payments:send", description: "Send payments", operations: ["pay"] }];
const RULES = {
  rules: [{ principal: ALICE.principal, grant: "payments:send", operations: ["pay"] }],
};

interface Till extends World {
  readonly token: string;
  /** The arguments of each run, in order. */
  readonly paid: JsonObject[];
}

async function till(): Promise<Till> {
  const paid: JsonObject[] = [];
  const pay: Skill = {
    id: "pay",
    name: "Pay",
    description: "Pay someone",
    operation: "pay",
    reach: "none",
    input: { type: "object", properties: { amount: { type: "number" }, to: { type: "array" } } },
    run: async ({ arguments: given }) => {
      paid.push(structuredClone(given));
      Object.assign(given, { noted: true });
      return null;
    },
  };
  const made = await world({ grants: GRANTS, rules: RULES, skills: [pay] });
  const { token } = await grantedOne(made.agent, { grants: ["payments:send"] });
  return { ...made, paid, token: attenuated(token, { constraints: { amount: { max: 50 } } }) };
}

const asked = (token: string, given: JsonObject) =>
  ({ skill: "pay", arguments: given, capabilities: [{ token }] }) as const;

async function cleared({ agent, token }: Till, given: JsonObject): Promise<Clearance> {
  const leave = await agent.clear(ALICE, asked(token, given));
  if (!leave.allowed) throw new Error(leave.denials[0].message);
  return leave;
}

const NEVER = new AbortController();

test("a skill runs with the arguments as they were when the call was made, even if the caller changes them later", async () => {
  const shop = await till();
  const { agent, token, paid } = shop;
  const given = { amount: 5, to: ["bob"] };
  const outcome = agent.invoke(ALICE, asked(token, given));
  given.amount = 5000;
  given.to.push("mallory");
  expect(await outcome).toMatchObject({ ok: true });
  const later = { amount: 5, to: ["bob"] };
  const leave = await cleared(shop, later);
  later.amount = 5000;
  later.to[0] = "mallory";
  await agent.run(leave, ALICE, NEVER);
  expect(paid).toEqual([
    { amount: 5, to: ["bob"] },
    { amount: 5, to: ["bob"] },
  ]);
});

test("a capability added to the caller's array while the call is judged has no effect", async () => {
  const { agent, token, paid } = await till();
  const capabilities: { token: string }[] = [];
  const outcome = agent.invoke(ALICE, { ...asked(token, { amount: 5 }), capabilities });
  capabilities.push({ token });
  expect(await outcome).toMatchObject({ ok: false, denials: [{ code: "capability_missing" }] });
  expect(paid).toEqual([]);
});

test("a clearance cannot be changed, and agent.run refuses a changed copy of a clearance", async () => {
  const shop = await till();
  const { agent, paid } = shop;
  const leave = await cleared(shop, { amount: 5, to: ["bob"] });
  for (const [one, more] of [
    [leave, { arguments: { amount: 5000 } }],
    [leave, { principal: "bob", lost: () => undefined }],
    [leave.arguments, { amount: 5000 }],
    [Object(leave.arguments["to"]), { 0: "mallory" }],
  ] as const) {
    expect(() => Object.assign(one, more)).toThrow(TypeError);
  }
  const copy = { ...leave, arguments: { amount: 5000 } };
  await expect(agent.run(copy, ALICE, NEVER)).rejects.toThrow("a call needs a clearance");
  await agent.run(leave, ALICE, NEVER);
  expect(paid).toEqual([{ amount: 5, to: ["bob"] }]);
});

test("a skill that changes its arguments does not change the recorded clearance", async () => {
  const shop = await till();
  const leave = await cleared(shop, { amount: 5 });
  await shop.agent.run(leave, ALICE, NEVER);
  expect(leave.arguments).toEqual({ amount: 5 });
});

test("arguments that are not JSON are refused with a TypeError that names the wrong value", async () => {
  const { agent, token, ledger } = await till();
  const circle: { [name: string]: Json } = {};
  circle["inner"] = [circle];
  const wrong: readonly (readonly [given: unknown, message: string])[] = [
    [
      { amount: () => 5 },
      "invocation.arguments.amount must be a string, a number, a boolean, null, an array or a plain object, not a function",
    ],
    [
      { to: [undefined] },
      "invocation.arguments.to[0] is undefined; leave it out, or give it a value",
    ],
    [
      { amount: 5n },
      "invocation.arguments.amount must be a string, a number, a boolean, null, an array or a plain object, not a bigint",
    ],
    [circle, "invocation.arguments must be nested at most 256 deep, and not hold itself"],
    [[5], "invocation.arguments must be a plain object, not an array"],
    [null, "invocation.arguments must be a plain object, not null"],
  ];
  for (const [given, message] of wrong) {
    const call = asked(token, given as JsonObject);
    await expect(agent.invoke(ALICE, call)).rejects.toThrow(new TypeError(message));
  }
  expect(await ledger.list({ kind: "invocation" })).toEqual([]);
  const named: JsonObject = JSON.parse('{"amount":5,"__proto__":{"to":["x"]}}');
  const leave = await agent.clear(ALICE, asked(token, named));
  expect(leave.allowed && Object.keys(leave.arguments)).toEqual(["amount", "__proto__"]);
});
