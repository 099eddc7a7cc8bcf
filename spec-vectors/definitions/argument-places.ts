import { accepts, entry, own, rejects, unreadable } from "./argument-parts.js";
import { allowed, type CheckSubject, EXPIRES, type JsonValue } from "./check-test.js";

const IBAN = entry('{"/to/iban":"DE"}');
const OPTIONAL = entry('{"/to/iban":{"in":["DE"],"optional":true}}');
const ABSENT = entry('{"/to/iban":{"absent":true}}');

function parsed(text: string): { readonly [name: string]: JsonValue } {
  return JSON.parse(text);
}

export const pointers: CheckSubject = {
  subject: "operationConstraints: names and JSON Pointers",
  comment: "Section 5.1: each argument has one name, and only members of objects are followed",
  tests: [
    accepts("an argument inside another", IBAN, { to: { iban: "DE", bic: "X" } }),
    accepts("three objects deep", entry('{"/a/b/c":1}'), { a: { b: { c: 1 } } }),
    accepts("a name at the top level", own("1"), { n: 1 }),
    accepts("the empty name", entry('{"":1}'), { "": 1 }),
    accepts("two empty tokens", entry('{"//":1}'), { "": { "": 1 } }),
    accepts("an empty token at the end", entry('{"/a/":1}'), { a: { "": 1 } }),
    accepts("an escaped slash", entry('{"/a~1b/c":1}'), { "a/b": { c: 1 } }),
    accepts("an escaped tilde", entry('{"/a~0b/c":1}'), { "a~b": { c: 1 } }),
    accepts("~01 is a tilde and a 1", entry('{"/a~01/b":1}'), { "a~1": { b: 1 } }),
    accepts("a top-level name that begins with a slash", entry('{"/~1x":1}'), { "/x": 1 }),
    accepts("a member that is a number in digits", entry('{"/a/0":1}'), { a: { "0": 1 } }),
    accepts("a member that is a hyphen", entry('{"/a/-":1}'), { a: { "-": 1 } }),
    accepts(
      "a leading slash is an ordinary character in constraints",
      '{"constraints":{"/to/iban":"DE"}}',
      { "/to/iban": "DE" },
    ),
    rejects("constraints follow no pointer", '{"constraints":{"/to/iban":"DE"}}', {
      to: { iban: "DE" },
    }),
    ...Object.entries<{ readonly [name: string]: JsonValue }>({
      "no arguments": {},
      "an empty object on the way": { to: {} },
      "another value": { to: { iban: "AT" } },
      "a string in place of the object": { to: "DE" },
      "a string that is the object's JSON": { to: '{"iban":"DE"}' },
      "an array in place of the object": { to: ["DE"] },
      "an array of the object": { to: [{ iban: "DE" }] },
      "null in place of the object": { to: null },
      "a number in place of the object": { to: 7 },
      "true in place of the object": { to: true },
      "an object in place of the value": { to: { iban: { iban: "DE" } } },
      "an array in place of the value": { to: { iban: ["DE"] } },
      "a member with the pointer's text as its name": { "/to/iban": "DE" },
      "a member with a slash in its name": { "to/iban": "DE" },
      "a member with a full stop in its name": { "to.iban": "DE" },
      "another case": { To: { IBAN: "DE" } },
    }).map(([what, given]) => rejects(`/to/iban: ${what}`, IBAN, given, "PointerEscape")),
    rejects("an index of an array", entry('{"/a/0":1}'), { a: [1] }, "PointerEscape"),
    rejects("the length of an array", entry('{"/a/length":0}'), { a: [] }, [
      "PointerEscape",
      "ObjectPrototype",
    ]),
    rejects("the length of a string", entry('{"/a/length":1}'), { a: "x" }, [
      "PointerEscape",
      "ObjectPrototype",
    ]),
    accepts(
      "a member called __proto__",
      entry('{"/__proto__/x":1}'),
      parsed('{"__proto__":{"x":1}}'),
      "ObjectPrototype",
    ),
    accepts("no member called __proto__", entry('{"/__proto__/x":{"absent":true}}'), {}, [
      "ObjectPrototype",
    ]),
    accepts("no member called constructor", entry('{"/constructor/name":{"absent":true}}'), {}, [
      "ObjectPrototype",
    ]),
    rejects("a constructor that nobody gave", entry('{"/constructor/name":{"not_in":["x"]}}'), {}, [
      "ObjectPrototype",
      "MissingValue",
    ]),
    ...Object.entries({
      "a pointer to a name that can be written plainly": '{"/n":1}',
      "both spellings of one argument": '{"/n":1,"n":1}',
      "a slash alone": '{"/":1}',
      "a tilde that escapes nothing": '{"/a~/b":1}',
      "a tilde before another digit": '{"/a~2/b":1}',
      "an escaped tilde in a pointer of one token": '{"/~0n":1}',
    }).map(([comment, text]) => unreadable(comment, entry(text), "PointerEscape")),
  ],
};

export const presence: CheckSubject = {
  subject: "operationConstraints: optional and absent",
  comment: "Section 5.1: when an argument is missing, and who allows that",
  tests: [
    accepts("optional: missing", own('{"max":5,"optional":true}'), {}),
    accepts("optional: no arguments at all", own('{"max":5,"optional":true}'), undefined),
    accepts("optional: there, and within its limit", own('{"max":5,"optional":true}'), { n: 5 }),
    rejects("optional: there, and beyond its limit", own('{"max":5,"optional":true}'), { n: 6 }),
    rejects("optional: a string", own('{"max":5,"optional":true}'), { n: "5" }, "TypeConfusion"),
    rejects("optional: null is there", own('{"max":5,"optional":true}'), { n: null }, [
      "TypeConfusion",
    ]),
    rejects("optional: an empty string is there", own('{"optional":true,"prefix":"a"}'), { n: "" }),
    accepts("optional, and a list that has null", own('{"in":[null],"optional":true}'), {
      n: null,
    }),
    accepts("absent: missing", own('{"absent":true}'), { m: 1 }),
    rejects("absent: there", own('{"absent":true}'), { n: "x" }),
    rejects("absent: null is there", own('{"absent":true}'), { n: null }, "TypeConfusion"),
    rejects("absent: an empty array is there", own('{"absent":true}'), { n: [] }, "TypeConfusion"),
    rejects("absent: false is there", own('{"absent":true}'), { n: false }, "TypeConfusion"),
    rejects("required: missing", own('{"max":5}'), {}, "MissingValue"),
    rejects(
      "required by one hop's *, optional by its own entry",
      '{"operationConstraints":{"*":{"n":{"max":9}},"retrieve":{"n":{"max":5,"optional":true}}}}',
      {},
      "MissingValue",
    ),
    ...[["optional", OPTIONAL] as const, ["absent", ABSENT] as const].flatMap(([what, text]) => [
      accepts(`${what}: the object that would hold it is missing`, text, {}),
      accepts(`${what}: the object that would hold it is empty`, text, { to: {} }),
      ...Object.entries<JsonValue>({
        "a string": "DE",
        "an empty string": "",
        "an array": [],
        "an array of objects": [{}],
        null: null,
        "a number": 0,
        false: false,
      }).map(([value, to]) =>
        rejects(`${what}: ${value} in place of the object`, text, { to }, "PointerEscape"),
      ),
    ]),
    rejects("optional: inside, and another value", OPTIONAL, { to: { iban: "AT" } }),
    rejects("absent: inside, and there", ABSENT, { to: { iban: null } }),
    rejects(
      "optional: an object far above is an array",
      entry('{"/a/b/c/d":{"max":1,"optional":true}}'),
      { a: { b: [] } },
      "PointerEscape",
    ),
    allowed("optional in two hops: missing", "Escalation", {
      links: [EXPIRES, own('{"in":[1],"optional":true}'), own('{"in":[2],"optional":true}')],
    }),
    ...Object.entries({
      "optional alone": '{"optional":true}',
      "optional that is false": '{"max":5,"optional":false}',
      "optional that is 1": '{"max":5,"optional":1}',
      "optional beside absent": '{"absent":true,"optional":true}',
      "absent that is false": '{"absent":false}',
      "absent beside another operator": '{"absent":true,"max":5}',
    }).map(([comment, text]) => unreadable(comment, own(text))),
  ],
};
