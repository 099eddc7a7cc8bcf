import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { beforeAll, describe, expect, test } from "vitest";
import { judge } from "../../cli/vectors/answer.js";
import { discoveryVectors, PYTHON, path, pythonHas } from "./support.js";

type Answered = { readonly [name: string]: unknown };

/** One fault each: what is written in a file of the checker, and what is written in its place. */
const FAULTS: readonly (readonly [fault: string, file: string, from: string, to: string])[] = [
  [
    "compares versions as text",
    "card_versions",
    "(int(match[1]), int(match[2] or 0))",
    "(match[1], match[2] or '0')",
  ],
  ["takes a text with a version in it", "card_versions", "_VERSION.fullmatch(", "_VERSION.match("],
  [
    "takes digits beyond ASCII",
    "card_versions",
    '_PART = r"(0|[1-9][0-9]{0,5})"',
    '_PART = r"(\\d{1,6})"',
  ],
  [
    "leaves the upper bound out",
    "card_versions",
    "version <= self.maximum",
    "version < self.maximum",
  ],
  [
    "leaves the lower bound out",
    "card_versions",
    "self.minimum <= version",
    "self.minimum < version",
  ],
  [
    "takes a missing flag for a declaration",
    "discovery",
    "card.flags.get(name, name in card.extensions)",
    "card.flags.get(name, True)",
  ],
  [
    "does not look at extensions",
    "discovery",
    "card.flags.get(name, name in card.extensions)",
    "card.flags.get(name, False)",
  ],
  ["needs no streaming", "discovery", "card.streaming is not True", "card.streaming is False"],
  [
    "takes streaming for streaming_message",
    "discovery",
    "        return False\n    return card.flags",
    "        return False\n    if name == 'streaming_message':\n        return True\n    return card.flags",
  ],
  ["allows legacy grants", "discovery", "if allow_legacy else", "if True else"],
  ["allows deprecated capabilities", "discovery", "if needs.allow_deprecated else", "if True else"],
  ["knows no removal", "discovery", 'is_reached(entry, "removed", needs.version)', "False"],
  [
    "takes silence for attenuable",
    "discovery",
    "grant.attenuable is not True",
    "grant.attenuable is False",
  ],
  ["asks for no operations", "discovery", "for one in need.operations if", "for one in () if"],
  ["chooses the last interface", "discovery", "fitting[0]", "fitting[-1]"],
  [
    "looks at the binding or the version",
    "discovery",
    "for one in bound if",
    "for one in card.interfaces if",
  ],
  [
    "reports the first reason alone",
    "discovery",
    "return Refusal(tuple(denials))",
    "return Refusal(tuple(denials[:1]))",
  ],
  [
    "reads snake_case alone",
    "card_places",
    "spellings = dict.fromkeys((name, snake(name)))",
    "spellings = (snake(name),)",
  ],
  [
    "takes the first of two places",
    "card_places",
    "any(value != values[0] for value in values)",
    "False",
  ],
  ["merges flags of two places", "card", "spelled.setdefault(either, flag) != flag", "False"],
  [
    "reads a flag that is text",
    "card",
    "return value if isinstance(value, bool) else None",
    "return bool(value)",
  ],
  [
    "keeps the last of two members of one name",
    "jsontext",
    "self.duplicate_name or name in found",
    "False",
  ],
  ["keeps the last of two grants", "card", "if name in found:", "if False:"],
  ["is one level too generous", "card_places", "if depth > MAX_DEPTH", "if depth > MAX_DEPTH + 1"],
  [
    "does not compare interfaces with the range",
    "card",
    "not all(map(card.range.has, named))",
    "False",
  ],
  [
    "takes a range for a limit alone",
    "card_versions",
    "return own[0] == version[0] and",
    "return False and",
  ],
  ["widens beyond a major version", "card_versions", "own[0] == version[0] and ", ""],
  [
    "reads no card of before 1.0",
    "card_places",
    "return all(one is None or one == [] for one in lists)",
    "return False",
  ],
  [
    "takes params for A2A's own flags",
    "card",
    "if name in _OWN_FLAGS and place is params:",
    "if False:",
  ],
  [
    "asks the first agent alone",
    "agent_chain",
    "replace(needs, end_to_end=end_to_end)\n",
    "replace(needs, end_to_end=end_to_end)\n    return Requirements(needs.version)\n",
  ],
  ["asks every agent for everything", "agent_chain", "if at == 0:", "if True:"],
  [
    "takes silence for no delegates",
    "agent_chain",
    "return card.delegates is not None and all(",
    "return card.delegates is None or all(",
  ],
  [
    "follows delegates that are not named",
    "agent_chain",
    "if before.delegates is not None and not named:",
    "if False:",
  ],
  [
    "lets no capability propagate",
    "registry",
    'PROPAGATING = frozenset(["context_reuse"])',
    "PROPAGATING = frozenset()",
  ],
  ["finds no cycle", "agent_chain", "if agent in seen:", "if False:"],
  ["has no limit", "agent_chain", "within = links[:limit]", "within = links"],
  [
    "removes within a major release",
    "registry",
    "removed[0] <= deprecated[0]",
    "removed <= deprecated",
  ],
  ["deprecates in a minor release", "registry", "deprecated[1] != 0", "False"],
  ["forgets what was removed", "registry", "if kept is None or", "if kept is not None and"],
  ["deprecates after the fact", "registry", "now <= since", "False"],
];

describe.skipIf(!pythonHas("json", "python3"))("a checker of cards that", () => {
  let answers: readonly (readonly Answered[])[] = [];
  beforeAll(() => {
    answers = answersOf(FAULTS);
  });

  test.each(FAULTS.map(([fault], at) => [fault, at] as const))("%s fails a test", (_, at) => {
    expect(failures(answers[at])).not.toEqual([]);
  });

  test("has no fault fails none", () => {
    const [own] = answersOf([["", "card", "class Card:", "class Card:"]]);
    expect(failures(own)).toEqual([]);
  });
});

/** The answers to all vectors with each of the faults, from one Python process. */
function answersOf(faults: typeof FAULTS): readonly (readonly Answered[])[] {
  const asked = {
    folder: path("python"),
    requests: discoveryVectors.map(({ request }) => JSON.stringify(request)),
    faults: faults.map(([, ...fault]) => fault),
  };
  const script = fileURLToPath(new URL("faulty_checkers.py", import.meta.url));
  const options = { input: JSON.stringify(asked), encoding: "utf8", maxBuffer: 2 ** 28 } as const;
  const { stdout, stderr, status } = spawnSync(PYTHON, ["-B", script], options);
  if (status !== 0) throw new Error(stderr);
  return stdout
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line));
}

/** The tests that answers do not pass. */
function failures(answers: readonly Answered[] | undefined): readonly number[] {
  expect(answers).toHaveLength(discoveryVectors.length);
  return discoveryVectors.flatMap((vector, at) => {
    const { status } = judge(vector, { kind: "answer", value: answers?.[at] ?? {} });
    return status === "passed" ? [] : [vector.test.tcId];
  });
}
