import { allowed, type CheckSubject, type CheckTest, hop, refused } from "./check-test.js";
import { limit, malformed, meets } from "./constraint-parts.js";
import type { Flag } from "./notes.js";

/** Defines two tests: the names of two arguments in the order of their code units, and in the reverse order. */
function pair(
  comment: string,
  first: string,
  second: string,
  more: readonly Flag[] = [],
): CheckTest[] {
  const flags = ["CanonicalForm", ...more] as const;
  const ask = { arguments: { [first]: 1, [second]: 2 } };
  const member = (name: string, value: number): string => `${JSON.stringify(name)}:${value}`;
  const all = (...members: readonly string[]): string => `{"constraints":{${members.join()}}}`;
  return [
    allowed(`${comment}`, flags, hop(all(member(first, 1), member(second, 2)), ask)),
    refused(
      `${comment}, the other way round`,
      flags,
      hop(all(member(second, 2), member(first, 1)), ask),
      "caveat_malformed@2",
    ),
  ];
}

export const namesInOrder: CheckSubject = {
  subject: "order of names",
  comment:
    "Section 5: argument names ascend by UTF-16 code units, whatever the case or the language",
  tests: [
    ...pair("an upper-case letter before a lower-case one", "B", "a"),
    ...pair("the last upper-case letter before the first lower-case one", "Z", "a"),
    ...pair("one letter in both cases", "A", "a"),
    ...pair("one word in two cases", "Amount", "amount"),
    ...pair("case decides before length", "AB", "a"),
    ...pair("a plain letter before an accented one", "z", "\u00e9", ["Unicode"]),
    ...pair("a letter before its accented form and what follows it", "ez", "\u00e9a", ["Unicode"]),
    ...pair("Latin before Cyrillic", "z", "\u0430", ["Unicode"]),
    ...pair("a hyphen counts", "a-b", "aa"),
    ...pair("an underscore behind upper case", "Z", "_"),
    ...pair("an underscore before lower case", "_", "a"),
    ...pair("a space counts", "a b", "aa"),
    ...pair("a digit before a letter, behind a hyphen", "a-1", "a1"),
    ...pair("the dotless i behind the dotted one", "i", "\u0131", ["Unicode"]),
    ...pair("a decomposed letter before the composed one", "e\u0301", "\u00e9", ["Unicode"]),
    meets("in: an upper-case string before a lower-case one", '{"in":["B","a"]}', "a"),
    malformed("in: a lower-case string before an upper-case one", '{"in":["a","B"]}'),
    malformed("not_in: a lower-case string before an upper-case one", '{"not_in":["a","B"]}'),
    allowed(
      "upper case before lower case, in both names and values",
      "CanonicalForm",
      hop('{"constraints":{"B":{"in":["Y","x"]},"a":{"in":["Y","x"]}}}', {
        arguments: { a: "x", B: "Y" },
      }),
    ),
    refused(
      "an argument is not met by one of its name in another case",
      ["CanonicalForm", "MissingValue"],
      hop(limit("1"), { arguments: { N: 1 } }),
      "constraint_violated@2",
    ),
  ],
};
