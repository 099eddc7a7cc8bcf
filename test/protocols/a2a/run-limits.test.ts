import { AsyncLocalStorage } from "node:async_hooks";
import { getEventListeners } from "node:events";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { TaskState } from "@a2a-js/sdk";
import { expect, test, vi } from "vitest";
import { RunLimit } from "../../../src/protocols/a2a/run-limit.js";
import {
  CANCELLED,
  endingOf,
  type Run,
  type RunLimits,
} from "../../../src/protocols/a2a/task-endings.js";

// How long a run may take, and what is left of it afterwards.

function limits(timeout = 60_000): RunLimits & { readonly stop: AbortController } {
  const stop = new AbortController();
  return { stop, stopping: stop.signal, timeout, onFailure: () => {} };
}

/** Work that ends only by its signal. */
const waiting = ({ signal }: { readonly signal: AbortSignal }): Promise<null> =>
  new Promise((_, reject) => {
    signal.addEventListener("abort", () => reject(signal.reason), { once: true });
  });

/** How much a signal holds on to: those who listen, and signals that depend on it. */
function heldBy(signal: AbortSignal): number {
  const sizes = Object.getOwnPropertySymbols(signal)
    .map((name): unknown => Reflect.get(signal, name))
    .map((value) => (typeof value === "object" && value !== null ? Reflect.get(value, "size") : 0))
    .filter((size) => typeof size === "number");
  // The names of events that were ever listened to are among them.
  const events = getEventListeners(signal, "abort").length;
  return events + Math.max(0, ...sizes);
}

test("runs that are over leave nothing with the signals that outlive them", async () => {
  const { stop, ...limited } = limits();
  const limit = new RunLimit();
  const ran = async (): Promise<void> => {
    await endingOf({ what: "one", work: async () => 1, limit }, limited);
    await endingOf({ what: "one", work: async () => Promise.reject(new Error()) }, limited);
  };
  await ran();
  const before = [heldBy(stop.signal), heldBy(limit.signal)];
  for (let at = 0; at < 50; at++) await ran();
  expect([heldBy(stop.signal), heldBy(limit.signal)]).toEqual(before);
});

test("a run ends when it is cancelled, when the agent stops, and when it takes too long", async () => {
  vi.useFakeTimers();
  const { stop, ...limited } = limits();
  const limit = new RunLimit();
  const cancelled = endingOf({ what: "one", work: waiting, limit }, limited);
  limit.abort(CANCELLED);
  expect(await cancelled).toMatchObject({ state: TaskState.TASK_STATE_CANCELED });
  const reasons: unknown[] = [];
  const late = endingOf(
    {
      what: "one",
      work: (limit) => waiting(limit).catch((why: unknown) => reasons.push(why)),
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

test("what a run leaves behind when it is over is still aborted after its time", async () => {
  vi.useFakeTimers();
  let left: AbortSignal | undefined;
  const work = async ({ signal }: { readonly signal: AbortSignal }): Promise<null> => {
    left = signal;
    return null;
  };
  await endingOf({ what: "one", work }, limits(1000));
  expect(left?.aborted).toBe(false);
  await vi.advanceTimersByTimeAsync(1000);
  expect(left?.aborted).toBe(true);
  vi.useRealTimers();
});

test("a run that asks for no signal leaves no timer, and one that asks later is aborted in time", async () => {
  vi.useFakeTimers();
  const before = vi.getTimerCount();
  let ask: () => AbortSignal = () => expect.unreachable();
  const work: Run["work"] = async (limit) => {
    ask = () => limit.signal;
    return null;
  };
  await endingOf({ what: "one", work }, limits(1000));
  expect(vi.getTimerCount()).toBe(before);
  await vi.advanceTimersByTimeAsync(400);
  const left = ask();
  expect(left.aborted).toBe(false);
  await vi.advanceTimersByTimeAsync(599);
  expect(left.aborted).toBe(false);
  await vi.advanceTimersByTimeAsync(1);
  expect(left.reason).toMatchObject({ name: "TimeoutError" });
  await endingOf({ what: "one", work }, limits(1000));
  await vi.advanceTimersByTimeAsync(1001);
  expect(ask().aborted).toBe(true);
  vi.useRealTimers();
});

test("a run that is cancelled before it begins ends at once", async () => {
  const limit = new RunLimit();
  limit.abort(CANCELLED);
  const { stop: _, ...limited } = limits();
  const ending = await endingOf({ what: "one", work: waiting, limit }, limited);
  expect(ending).toMatchObject({ state: TaskState.TASK_STATE_CANCELED });
});

test("a run that is over is not kept until its time is over", async () => {
  setFlagsFromString("--expose-gc");
  const collect: () => void = runInNewContext("gc");
  const { stop, ...limited } = limits();
  const context = new AsyncLocalStorage<object>();
  const runs: WeakRef<object>[] = [];
  const signals: AbortSignal[] = [];
  const run = async (): Promise<void> => {
    const call = { request: new Array(1000).fill(0) };
    const store = { call };
    runs.push(new WeakRef(call), new WeakRef(store));
    const work = async ({ signal }: { readonly signal: AbortSignal }): Promise<number> => {
      signals.push(signal);
      return call.request.length;
    };
    const limit = new RunLimit();
    await context.run(store, () => endingOf({ what: "one", work, limit }, limited));
  };
  for (let at = 0; at < 20; at++) await run();
  // What was just awaited is given up a turn later.
  for (let turn = 0; turn < 5; turn++) {
    await new Promise((done) => setImmediate(done));
    collect();
  }
  expect(runs.filter((one) => one.deref() !== undefined)).toEqual([]);
  expect(signals.map(({ aborted }) => aborted)).toEqual(new Array(20).fill(false));
  stop.abort();
});
