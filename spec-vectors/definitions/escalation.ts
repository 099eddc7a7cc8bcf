import { append, type Link } from "../build/chain.js";
import {
  type Ask,
  allowed,
  type CheckSubject,
  type CheckTest,
  EXPIRES,
  refused,
} from "./check-test.js";
import type { Flag } from "./notes.js";

/** Returns the links of a token with one hop for each limit. */
function limits(...each: readonly string[]): Link[] {
  return [EXPIRES, ...each.map((text) => `{"constraints":${text}}`)];
}

function holds(comment: string, links: readonly Link[], ask: Ask): CheckTest {
  return allowed(comment, "Escalation", { links, ask });
}

function stops(
  comment: string,
  links: readonly Link[],
  ask: Ask,
  denials: readonly [string, ...string[]],
  more: readonly Flag[] = [],
): CheckTest {
  return refused(comment, ["Escalation", ...more], { links, ask }, ...denials);
}

function sets(key: string, ...members: readonly string[]): Link[] {
  return [EXPIRES, ...members.map((one) => `{"${key}":${one}}`)];
}

const AMOUNT = limits('{"amount":{"max":10}}', '{"amount":500}');
const ACCOUNTS = limits('{"to":"acc_A"}', '{"to":"acc_B"}');
const CURRENCY = limits('{"amount":{"max":10}}', '{"currency":"USD"}');
const LIST = limits('{"to":{"in":["a","b"]}}', '{"to":{"not_in":["a"]}}');
const READ = '["read"]';

export const escalation: CheckSubject = {
  subject: "escalation",
  comment: "Section 1: a token allows what every hop allows; nothing merges and nothing overrides",
  tests: [
    stops(
      "{amount:{max:10}} then {amount:500}: not 500",
      AMOUNT,
      { arguments: { amount: 500 } },
      ["constraint_violated@2"],
      ["AgentAuthBug"],
    ),
    stops(
      "{amount:{max:10}} then {amount:500}: nor 5",
      AMOUNT,
      { arguments: { amount: 5 } },
      ["constraint_violated@3"],
      ["AgentAuthBug"],
    ),
    stops(
      '{to:"acc_A"} then {to:"acc_B"}: not B',
      ACCOUNTS,
      { arguments: { to: "acc_B" } },
      ["constraint_violated@2"],
      ["AgentAuthBug"],
    ),
    stops(
      '{to:"acc_A"} then {to:"acc_B"}: nor A',
      ACCOUNTS,
      { arguments: { to: "acc_A" } },
      ["constraint_violated@3"],
      ["AgentAuthBug"],
    ),
    stops(
      '{amount:{max:10}} then {currency:"USD"}: the amount is limited still',
      CURRENCY,
      { arguments: { amount: 11, currency: "USD" } },
      ["constraint_violated@2"],
      ["AgentAuthBug"],
    ),
    stops(
      '{amount:{max:10}} then {currency:"USD"}: the amount is needed still',
      CURRENCY,
      { arguments: { currency: "USD" } },
      ["constraint_violated@2"],
      ["AgentAuthBug", "MissingValue"],
    ),
    holds('{amount:{max:10}} then {currency:"USD"}: both met', CURRENCY, {
      arguments: { amount: 10, currency: "USD" },
    }),
    stops(
      "max 10 then max 1000",
      limits('{"amount":{"max":10}}', '{"amount":{"max":1000}}'),
      { arguments: { amount: 11 } },
      ["constraint_violated@2"],
    ),
    holds("max 1000 then max 10", limits('{"amount":{"max":1000}}', '{"amount":{"max":10}}'), {
      arguments: { amount: 10 },
    }),
    stops(
      "max 10 then min 5: the max holds still",
      limits('{"amount":{"max":10}}', '{"amount":{"min":5}}'),
      { arguments: { amount: 11 } },
      ["constraint_violated@2"],
    ),
    stops("in then not_in: a member that is not excluded", LIST, { arguments: { to: "c" } }, [
      "constraint_violated@2",
    ]),
    stops("in then not_in: the one that is excluded", LIST, { arguments: { to: "a" } }, [
      "constraint_violated@3",
    ]),
    holds("in then not_in: what both leave", LIST, { arguments: { to: "b" } }),
    stops(
      "not_in then in of the excluded value",
      limits('{"to":{"not_in":["a"]}}', '{"to":{"in":["a"]}}'),
      { arguments: { to: "a" } },
      ["constraint_violated@2"],
    ),
    stops(
      "not_in a then not_in b: a is excluded still",
      limits('{"to":{"not_in":["a"]}}', '{"to":{"not_in":["b"]}}'),
      { arguments: { to: "a" } },
      ["constraint_violated@2"],
    ),
    stops(
      "in [a] then in [a,b]",
      limits('{"to":{"in":["a"]}}', '{"to":{"in":["a","b"]}}'),
      { arguments: { to: "b" } },
      ["constraint_violated@2"],
    ),
    stops(
      "an exact value then an operator that allows others",
      limits('{"to":"a"}', '{"to":{"not_in":["a"]}}'),
      { arguments: { to: "b" } },
      ["constraint_violated@2"],
    ),
    stops(
      "not_in of strings then not_in of numbers leaves nothing",
      limits('{"n":{"not_in":["a"]}}', '{"n":{"not_in":[1]}}'),
      { arguments: { n: 2 } },
      ["constraint_violated@2"],
      ["TypeConfusion"],
    ),
    stops(
      "operations: a later set that is wider",
      sets("operations", READ, '["read","write"]'),
      { operation: "write" },
      ["operation_denied@2"],
    ),
    stops(
      "operations: a later set that is another",
      sets("operations", READ, '["write"]'),
      { operation: "write" },
      ["operation_denied@2"],
    ),
    holds(
      "operations: what two sets have in common",
      sets("operations", '["a","b"]', '["b","c"]'),
      { operation: "b" },
    ),
    stops(
      "operations: only in the first of two sets",
      sets("operations", '["a","b"]', '["b","c"]'),
      { operation: "a" },
      ["operation_denied@3"],
    ),
    stops(
      "operations: in neither",
      sets("operations", '["a"]', '["b"]'),
      { operation: "c" },
      ["operation_denied@2", "operation_denied@3"],
      ["AllReported"],
    ),
    stops(
      "handles: a later set that is wider",
      sets("resourceHandles", '["rh_1"]', '["rh_1","rh_2"]'),
      { resourceHandles: ["rh_2"] },
      ["resource_denied@2"],
    ),
    stops(
      "handles: one from each set",
      sets("resourceHandles", '["rh_1"]', '["rh_2"]'),
      { resourceHandles: ["rh_1", "rh_2"] },
      ["resource_denied@2", "resource_denied@3"],
      ["AllReported"],
    ),
    stops(
      "audience: a later set that is wider",
      sets("audience", '["a"]', '["a","b"]'),
      { audience: "b" },
      ["audience_denied@2"],
    ),
    stops(
      "invokers: a later set that is wider",
      sets("invokers", '["a"]', '["a","b"]'),
      { invoker: "b" },
      ["invoker_denied@2"],
    ),
    stops(
      "the order of hops changes nothing: strict first",
      limits('{"n":1}', '{"n":{"max":9}}'),
      { arguments: { n: 2 } },
      ["constraint_violated@2"],
    ),
    stops(
      "the order of hops changes nothing: strict last",
      limits('{"n":{"max":9}}', '{"n":1}'),
      { arguments: { n: 2 } },
      ["constraint_violated@3"],
    ),
    stops(
      "the same hop twice refuses twice",
      sets("operations", READ, READ),
      { operation: "write" },
      ["operation_denied@2", "operation_denied@3"],
      ["AllReported"],
    ),
    refused(
      "a hop appended to a valid token by its holder",
      ["Escalation", "Normal"],
      {
        links: sets("operations", '["a","b"]'),
        alter: (token) => append(token, '{"operations":["a"]}'),
        ask: { operation: "b" },
      },
      "operation_denied@3",
    ),
    stops(
      "every rule of one hop at once",
      [
        EXPIRES,
        '{"audience":["a"],"constraints":{"n":1},"expires":"2026-01-01T00:00:00Z","invokers":["a"],"maxFurtherHops":0,"operations":["a"],"resourceHandles":["a"]}',
        '{"notBefore":"2027-01-01T00:00:00Z"}',
      ],
      {},
      [
        "audience_denied@2",
        "constraint_violated@2",
        "expired@2",
        "invoker_denied@2",
        "too_many_hops@2",
        "operation_denied@2",
        "resource_denied@2",
        "not_yet_valid@3",
      ],
      ["AllReported"],
    ),
  ],
};
