import { chain, third } from "../build/chain.js";
import { array, discharged, holds, members, withDischarge } from "./limit-parts.js";
import { as, invalid, KEY, type MacaroonSubject, valid } from "./macaroon-test.js";

const DEEPEST =
  '{"operationConstraints":{"*":{"a":{"each":{"url":{"hosts":["a.example"],"schemes":["https"]}}}}}}';

export const hopLimits: MacaroonSubject = {
  subject: "limits of a hop",
  comment: "Section 4: nesting and members, measured before anything is parsed",
  tests: [
    valid("a hop nested seven deep", "Limit", holds(DEEPEST)),
    invalid(
      "a hop nested eight deep",
      "Limit",
      holds(DEEPEST.replace('"a.example"', '["a.example"]')),
      "too_deep",
    ),
    invalid("text that is not JSON, nested eight deep", "Limit", holds("{[[[[[[["), "too_deep"),
    invalid(
      "a hop nested 1,000 deep",
      "Limit",
      holds(`{"a":${"[".repeat(999)}${"]".repeat(999)}}`),
      "too_deep",
    ),
    valid("brackets in a string do not nest", "Limit", holds('{"purpose":"[[[[[[[[["}')),
    valid(
      "a quote behind a backslash does not end a string",
      "Limit",
      holds('{"purpose":"\\"[[[[[[[["}'),
    ),
    valid("text that does not start with a brace is not measured", "Limit", holds("[[[[[[[[[")),
    valid(
      "bytes that are not UTF-8 are not measured",
      "Limit",
      as(
        "v2",
        chain(KEY, "id", [new Uint8Array([0x7b, 0x5b, 0x5b, 0x5b, 0x5b, 0x5b, 0x5b, 0x5b, 0xff])]),
      ),
    ),
    valid(
      "a third-party caveat's identifier is not measured",
      "Limit",
      as("v2", ...discharged(third("{[[[[[[[[["))),
    ),
    invalid(
      "a discharge's hop nested eight deep",
      "Limit",
      as("v2", ...withDischarge([DEEPEST.replace('"a.example"', '["a.example"]')])),
      "too_deep",
    ),
    valid(
      "closing brackets close the innermost, whichever they are",
      "Limit",
      holds("{[}{[}{[}{[}{[}"),
    ),
    valid("256 members of an array", "Limit", holds(members(256))),
    invalid("257 members of an array", "Limit", holds(members(257)), "too_many_members"),
    invalid(
      "257 members for the commas, though the last is missing",
      "Limit",
      holds(members(256).replace("]", ",]")),
      "too_many_members",
    ),
    invalid(
      "257 members of an array that is not closed",
      "Limit",
      holds(`{[${",".repeat(256)}`),
      "too_many_members",
    ),
    valid("300 commas in a string", "Limit", holds(`{"operations":["${",".repeat(300)}"]}`)),
    valid("300 commas in an object", "Limit", holds(`{[1]${",".repeat(300)}}`)),
    valid(
      "300 members in two arrays",
      "Limit",
      holds(`{"audience":${array(150)},"operations":${array(150)}}`),
    ),
    valid(
      "a backslash behind a backslash escapes nothing further",
      "Limit",
      holds('{"purpose":"\\\\","x":"[[[[[[["}'),
    ),
    invalid(
      "a string that ends behind two backslashes",
      "Limit",
      holds('{"purpose":"\\\\",[[[[[[['),
      "too_deep",
    ),
    valid("a string that does not end goes on to the end", "Limit", holds('{"purpose":"[[[[[[[[[')),
    valid("closing brackets on an empty stack do nothing", "Limit", holds("{}}}]][[[[[[[")),
    invalid(
      "brackets behind the end of the object nest too",
      "Limit",
      holds("{}[[[[[[[["),
      "too_deep",
    ),
    invalid(
      "commas in an array inside an object inside an array",
      "Limit",
      holds(`{[{[${",".repeat(256)}`),
      "too_many_members",
    ),
    invalid(
      "257 members of an array before another array nested eight deep",
      "Limit",
      holds(`{[${",".repeat(256)}[[[[[[`),
      "too_deep",
    ),
    invalid(
      "a hop with 257 members before a hop nested eight deep",
      "Limit",
      as("v2", chain(KEY, "id", [members(257), "{[[[[[[["])),
      "too_many_members",
    ),
  ],
};
