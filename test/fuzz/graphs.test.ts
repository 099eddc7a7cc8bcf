import { describe, expect, test } from "vitest";
import type { Decision } from "../../src/issuer/index.js";
import {
  addThirdPartyCaveat,
  bindDischarge,
  createMacaroon,
  createRootKey,
  type Macaroon,
  parseMacaroon,
  verifyMacaroon,
  writeMacaroons,
} from "../../src/macaroon/index.js";
import { cpuTime } from "../support/cpu-time.js";
import { sized } from "../support/size.js";
import { ASKED, issuer, type Presented } from "./corpus.js";

// Discharges that need discharges, in shapes that cost other implementations exponential time or a stack overflow. In
// these tests, every check must end at a limit or at the first discharge that is used twice.

const secret = new TextEncoder().encode("shared by all third parties");
const KEY = createRootKey(secret);
const nonce = new Uint8Array(24);

function needing(macaroon: Macaroon, ...names: readonly string[]): Macaroon {
  return names.reduce(
    (one, identifier) => addThirdPartyCaveat(one, { key: secret, identifier, nonce }),
    macaroon,
  );
}

type Graph = Iterable<readonly [name: string, needs: readonly string[]]>;

/** Returns `bare` with a third-party caveat for `start`, and bound discharges that need each other as in `graph`. */
function presented(bare: Macaroon, start: readonly string[], graph: Graph): Presented {
  const root = needing(bare, ...start);
  const discharges = [...graph].map(([identifier, needs]) =>
    bindDischarge(root, needing(createMacaroon(KEY, { identifier }), ...needs)),
  );
  return [root, ...discharges];
}

function refusal(decision: Decision): string {
  if (decision.allowed) return "allowed";
  const [{ code, rule }] = decision.denials;
  return `${code} ${rule}`;
}

/** Yields `levels` levels of two discharges. Each discharge needs both discharges of the next level. */
function* ladder(levels: number): Generator<[string, string[]]> {
  for (let level = 0; level < levels; level++) {
    const next = level + 1 < levels ? [`l${level + 1}`, `r${level + 1}`] : [];
    yield [`l${level}`, next];
    yield [`r${level}`, next];
  }
}

function* line(length: number): Generator<[string, string[]]> {
  for (let at = 0; at < length; at++) yield [`${at}`, at + 1 < length ? [`${at + 1}`] : []];
}

// Limit of CPU time in milliseconds, a hundred times the time needed. An exponential check would not end within this limit.
const AT_ONCE = 5000;
const MANY = sized(5000);
const LEVELS = MANY / 2;

function atOnce<T>(run: () => T): T {
  const spent = cpuTime();
  const result = run();
  expect(spent()).toBeLessThan(AT_ONCE);
  return result;
}

describe("discharges with caveats of their own", () => {
  const bare = parseMacaroon(issuer.mint({ grant: "documents:read", operations: ["get"] }).token);
  const answer = (start: readonly string[], graph: Graph): string => {
    const text = writeMacaroons(presented(bare, start, graph), "v2");
    return refusal(atOnce(() => issuer.authorize(text, ASKED)));
  };

  test("that require each other in a cycle are refused", () => {
    expect(answer(["a"], [["a", ["a"]]])).toBe("discharge_invalid discharge_cyclic");
    expect(answer(["a"], [["a", Array<string>(9).fill("a")]])).toBe(
      "discharge_invalid discharge_cyclic",
    );
    const three: [string, string[]][] = [
      ["a", ["b"]],
      ["b", ["c"]],
      ["c", ["a", "b", "c"]],
    ];
    expect(answer(["a"], three)).toBe("discharge_invalid discharge_cyclic");
  });

  test("that are required twice are refused as reused", () => {
    expect(answer(["l0", "r0"], ladder(4))).toBe("discharge_invalid discharge_reused");
    expect(answer(["a", "a"], [["a", []]])).toBe("discharge_invalid discharge_reused");
  });

  test("are verified down to the limit of nesting, and refused past it", () => {
    expect(answer(["0"], line(4))).toBe("allowed");
    expect(answer(["0"], line(5))).toBe("discharge_invalid discharge_too_deep");
    expect(answer(["0"], line(8))).toBe("discharge_invalid discharge_too_deep");
  });

  test("are refused before any of them is verified if there are too many", () => {
    expect(answer(["0"], line(9))).toBe("token_too_large too_many_discharges");
    expect(answer(["0"], line(MANY))).toBe("token_too_large too_large");
    expect(answer(["l0", "r0"], ladder(LEVELS))).toBe("token_too_large too_large");
  });
});

describe("under limits of 10,000 discharges and 10,000 levels, discharges", () => {
  const limits = { discharges: 10_000, bytes: 2 ** 27, nesting: 10_000 };
  const verdict = (start: readonly string[], graph: Graph): string => {
    const bare = createMacaroon(KEY, { identifier: "root" });
    const [root, ...discharges] = presented(bare, start, graph);
    const result = atOnce(() =>
      verifyMacaroon(root, KEY, { discharges, check: () => true, limits }),
    );
    return result.ok ? "ok" : (result.failures[0]?.code ?? "");
  };

  test(`in a ladder of ${LEVELS} levels are refused at the first discharge met twice`, () => {
    expect(verdict(["l0", "r0"], ladder(LEVELS))).toBe("discharge_reused");
  });

  test(`in a chain of ${MANY} are verified without overflowing the stack`, () => {
    expect(verdict(["0"], line(MANY))).toBe("ok");
  });
});
