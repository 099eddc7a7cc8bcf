import { isObject, isTexts } from "../../src/bytes/json.js";
import { discoveryLine } from "./discovery-answer.js";
import type { ExpectedDenial, Operation, Vector } from "./file.js";

/** The answer of an implementation to a request, or the reason why there is none. */
export type Answer =
  | { readonly kind: "answer"; readonly value: { readonly [name: string]: unknown } }
  | { readonly kind: Fault; readonly message: string };

/**
 * The reason why there is no answer. `stopped`: the program ended. `silent`: it did not answer in time.
 * `garbage`: its output was not an answer. `not_run`: it got no request.
 */
export type Fault = "stopped" | "silent" | "garbage" | "not_run";

export type Outcome =
  | { readonly status: "passed" }
  | { readonly status: "unsupported"; readonly reason: string }
  | {
      readonly status: "failed";
      readonly expected: string;
      readonly got: string;
      readonly fault?: Fault;
    };

/** Compares an answer with what the vector expects. */
export function judge({ op, test }: Vector, answer: Answer): Outcome {
  const expected = lineOf(op, { ...test }) ?? test.result;
  if (answer.kind !== "answer") {
    return { status: "failed", expected, got: answer.message, fault: answer.kind };
  }
  const { value } = answer;
  if (Object.hasOwn(value, "unsupported")) {
    return { status: "unsupported", reason: String(value["unsupported"]) };
  }
  // A chain id in the answer is compared only if the test has one.
  const isAsked = "chainId" in test && test.chainId !== undefined;
  const got = lineOf(op, isAsked ? value : { ...value, chainId: undefined });
  if (got === undefined) {
    const message = `not an answer: ${JSON.stringify(value)}`;
    return { status: "failed", expected, got: message, fault: "garbage" };
  }
  return got === expected ? { status: "passed" } : { status: "failed", expected, got };
}

/** Formats a result as one line, for comparison. */
function lineOf(op: Operation, value: { readonly [name: string]: unknown }): string | undefined {
  if (op !== "verify" && op !== "check") return discoveryLine(op, value);
  const { result, tags, code, revocationIds: ids, chainId, denials } = value;
  if (result === "valid") return isTags(tags) ? valid(tags) : undefined;
  if (result === "invalid") return typeof code === "string" ? `invalid: ${code}` : undefined;
  if (result === "allowed") {
    const chain = chainId === undefined ? "" : `, chain ${chainId}`;
    return isTexts(ids) ? `allowed, revocation ids ${ids.join(" ")}${chain}` : undefined;
  }
  if (result === "refused") return isDenials(denials) ? refused(denials) : undefined;
  return result === "misuse" ? result : undefined;
}

function valid(tags: readonly (readonly string[])[]): string {
  if (tags.length === 0) return "valid, no tags";
  return `valid, tags ${tags.map((chain) => chain.join(" ")).join(" | ")}`;
}

/** Formats denials as a set. Each element names a code, a hop and a discharge. */
function refused(denials: readonly ExpectedDenial[]): string {
  const places = denials.map(({ code, hop, discharge }) => {
    const inside = discharge === undefined ? "" : ` in discharge ${discharge}`;
    return `${code}${hop === undefined ? "" : ` at ${hop}`}${inside}`;
  });
  return `refused: ${[...new Set(places)].sort().join(", ")}`;
}

function isTags(value: unknown): value is readonly (readonly string[])[] {
  return Array.isArray(value) && value.every(isTexts);
}

function isDenials(value: unknown): value is readonly ExpectedDenial[] {
  return Array.isArray(value) && value.length > 0 && value.every(isDenial);
}

function isDenial(value: unknown): value is ExpectedDenial {
  if (!isObject(value)) return false;
  const { code, hop = 0, discharge = 0 } = value;
  return typeof code === "string" && [hop, discharge].every(Number.isSafeInteger);
}
