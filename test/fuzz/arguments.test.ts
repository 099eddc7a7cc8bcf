import { describe } from "vitest";
import { readArguments } from "../../cli/argument-expression.js";
import { CliError } from "../../cli/exit.js";
import { readLimits } from "../../cli/limit-expression.js";
import type { Invocation } from "../../src/caveats/invocation.js";
import { normalizeHop } from "../../src/caveats/write-hop.js";
import { createRevocationList, importKeyring } from "../../src/issuer/index.js";
import { issuer, keyring, SAMPLES } from "./corpus.js";
import { anyText, anyValue, nearlyHop, object } from "./garbage.js";
import { fuzz } from "./random.js";

/** Runs a function that may refuse its input only with an error of the class `kind`. */
function refusingWith(
  kind: abstract new (...given: never[]) => Error,
  run: () => unknown,
): "taken" | "refused" {
  try {
    run();
    return "taken";
  } catch (error) {
    if (!(error instanceof kind)) throw error;
    return "refused";
  }
}

const EXPRESSIONS = [
  "amount<=1000",
  "amount >= 1",
  "currency in USD,EUR",
  "to not in [1,2]",
  'to="a"',
];
const PIECES = [
  "<",
  ">",
  "=",
  "==",
  "!=",
  "<=",
  ">=",
  " in ",
  " not in ",
  ",",
  '"',
  "\\",
  "[",
  "]",
  "{",
  "}",
  "1e999",
  "-0",
  "007",
  "0.1",
  "9007199254740993",
  "true",
  "null",
  " ",
  "in",
  "not",
  '{"max":1}',
];

describe("wrong arguments of public functions are refused with the documented error", () => {
  fuzz("expressions", (random) => {
    let text = random.once(3) ? "" : random.pick(EXPRESSIONS);
    for (let edits = random.below(5); edits > 0; edits--) {
      const at = random.below(text.length + 1);
      const piece = random.once(3) ? anyText(random) : random.pick(PIECES);
      text = text.slice(0, at) + piece + text.slice(at + random.below(3));
    }
    const texts = [text, random.pick(EXPRESSIONS)].slice(random.below(2));
    refusingWith(CliError, () => readArguments(texts));
    return refusingWith(CliError, () => {
      const limits = readLimits(texts);
      refusingWith(TypeError, () => normalizeHop(limits));
    });
  });

  fuzz("calls", (random) => {
    const call = object([
      ["operation", random.once(6) ? anyValue(random) : "get"],
      ["grant", random.once(6) ? anyValue(random) : "documents:read"],
      ...random.many(random.below(3), () => {
        const names = [
          "resourceHandles",
          "arguments",
          "invoker",
          "audience",
          "time",
          anyText(random),
        ];
        return [random.pick(names), anyValue(random)] as const;
      }),
    ]);
    const token = random.once(20) ? (anyValue(random) as string) : random.pick(SAMPLES).text;
    const checked = refusingWith(TypeError, () =>
      issuer.authorize(token, call as unknown as Invocation),
    );
    const open = random.once(2) ? { anyOperation: random.once(9) ? anyValue(random) : true } : {};
    refusingWith(TypeError, () =>
      issuer.mint({ grant: "g", ...(nearlyHop(random) as object), ...(open as object) }),
    );
    refusingWith(TypeError, () => normalizeHop(anyValue(random) as object));
    return checked;
  });

  fuzz("lists and keys", (random) => {
    const entry = object([
      ["kind", random.pick(["link", "capability", "key", "principal", anyText(random)])],
      ["id", random.once(9) ? anyValue(random) : "rv_AAAAAAAAAAAAAAAAAAAAAA"],
      ["at", random.once(9) ? anyValue(random) : "2030-01-01T00:00:00Z"],
      ...random.many(random.below(3), () => {
        return [random.pick(["before", "until", "reason", "other"]), anyValue(random)] as const;
      }),
    ]);
    const list = object([
      ["version", random.once(9) ? anyValue(random) : random.below(9)],
      ["entries", random.once(9) ? anyValue(random) : [entry, entry]],
      ...random.many(random.below(2), () => ["trustedUntil", anyValue(random)] as const),
    ]);
    refusingWith(TypeError, () => createRevocationList(list as never).find(QUERY));
    const [key = {}] = keyring.exportJwkSet().keys;
    const members = Object.entries(key).map(
      ([name, value]) => [name, random.once(12) ? anyValue(random) : (value as never)] as const,
    );
    const keys = random.once(9)
      ? anyValue(random)
      : random.many(random.below(3), () => object(members));
    return refusingWith(TypeError, () => importKeyring(object([["keys", keys]]) as never));
  });
});

const QUERY = { links: [""], capability: "", keys: [""], issued: 0, principal: "" };
