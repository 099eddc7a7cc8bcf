import { getEventListeners } from "node:events";
import { TaskState } from "@a2a-js/sdk";
import { expect, test, vi } from "vitest";
import {
  CANCELLED,
  endingOf,
  type Run,
  type RunLimits,
} from "../../../src/protocols/a2a/task-endings.js";

// Tests the time limit of a run, and that a run leaves nothing behind.

function limits(timeout = 60_000): RunLimits & { readonly stop: AbortController } {
  const stop = new AbortController();
  return { stop, stopping: stop.signal, timeout, onFailure: () => {} };
}

/** Work that ends only when its signal is aborted. */
const waiting = (signal: AbortSignal): Promise<null> =>
  new Promise((_, reject) => {
    signal.addEventListener("abort", () => reject(signal.reason), { once: true });
  });

/** Returns the number of references that a signal has: its listeners and its dependent signals. */
function heldBy(signal: AbortSignal): number {
  const sizes = Object.getOwnPropertySymbols(signal)
    .map((name): unknown => Reflect.get(signal, name))
    .map((value) => (typeof value === "object" && value !== null ? Reflect.get(value, "size") : 0))
    .filter((size) => typeof size === "number");
  // `sizes` also includes the signal's map of event names. The map keeps every name that ever had a listener,
  // so its size does not count the listeners.
  const events = getEventListeners(signal, "abort").length;
  return events + Math.max(0, ...sizes);
}

test("finished runs leave no listeners on signals that outlive the runs", async () => {
  const { stop, ...limited } = limits();
  const controller = new AbortController();
  const ran = async (): Promise<void> => {
    await endingOf({ what: "one", work: async () => 1, controller }, limited);
    await endingOf({ what: "one", work: async () => Promise.reject(new Error()) }, limited);
  };
  await ran();
  const before = [heldBy(stop.signal), heldBy(controller.signal)];
  for (let at = 0; at < 50; at++) await ran();
  expect([heldBy(stop.signal), heldBy(controller.signal)]).toEqual(before);
});

test("a run ends when it is cancelled, when the agent stops, or at its time limit", async () => {
  vi.useFakeTimers();
  const { stop, ...limited } = limits();
  const controller = new AbortController();
  const cancelled = endingOf({ what: "one", work: waiting, controller }, limited);
  controller.abort(CANCELLED);
  expect(await cancelled).toMatchObject({ state: TaskState.TASK_STATE_CANCELED });
  const reasons: unknown[] = [];
  const late = endingOf(
    {
      what: "one",
      work: (signal) => waiting(signal).catch((why: unknown) => reasons.push(why)),
    },
    limits(1000),
  );
  await vi.advanceTimersByTimeAsync(1000);
  expect(await late).toMatchObject({ reason: "timed_out" });
  expect(reasons).toMatchObject([{ name: "TimeoutError" }]);
  const stopped = endingOf({ what: "one", work: waiting }, limited);
  stop.abort();
  expect(await stopped).toMatchObject({ reason: "unavailable" });
  vi.useRealTimers();
});

test("when a run has answered, its signal is aborted and its timer is cleared", async () => {
  vi.useFakeTimers();
  const before = vi.getTimerCount();
  let left: AbortSignal | undefined;
  const work: Run["work"] = async (signal) => {
    left = signal;
    expect(signal.aborted).toBe(false);
    return 1;
  };
  const ending = await endingOf({ what: "one", work }, limits(1000));
  expect(ending).toEqual({ state: TaskState.TASK_STATE_COMPLETED, result: 1 });
  expect(left?.reason).toMatchObject({ name: "AbortError" });
  expect(vi.getTimerCount()).toBe(before);
  vi.useRealTimers();
});

test("a run cancelled before it begins ends at once", async () => {
  const controller = new AbortController();
  controller.abort(CANCELLED);
  const { stop: _, ...limited } = limits();
  const ending = await endingOf({ what: "one", work: waiting, controller }, limited);
  expect(ending).toMatchObject({ state: TaskState.TASK_STATE_CANCELED });
});
