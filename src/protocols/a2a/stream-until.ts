import type { StreamResponse, Task } from "@a2a-js/sdk";

/** Milliseconds after which a quiet stream repeats where its task stands: connections that say nothing are cut. */
const REPEAT = 20_000;

/**
 * The progress of a task that waits, up to its end.
 *
 * @param ended - What it comes to; `undefined` ends the stream without it.
 * @param whenClosed - Calls back once nothing reads the stream any more.
 */
export async function* streamUntil(
  task: Task,
  ended: Promise<Task | undefined>,
  whenClosed: (then: () => void) => void = () => {},
): AsyncGenerator<StreamResponse, void, undefined> {
  const { id: taskId, contextId, status } = task;
  const progress = (of: Task["status"]): StreamResponse => ({
    payload: { $case: "statusUpdate", value: { taskId, contextId, status: of, metadata: {} } },
  });
  let came: { readonly end: Task | undefined } | undefined;
  let wake = (): void => {};
  const come = (end: Task | undefined): void => {
    came ??= { end };
    wake();
  };
  void ended.then(come);
  whenClosed(() => come(undefined));
  while (came === undefined) {
    let timer: NodeJS.Timeout | undefined;
    await new Promise<void>((resolve) => {
      wake = resolve;
      timer = setTimeout(resolve, REPEAT).unref();
    });
    clearTimeout(timer);
    if (came === undefined) yield progress(status);
  }
  const { end } = came;
  if (end === undefined) return;
  for (const artifact of end.artifacts) {
    const value = { taskId, contextId, artifact, append: false, lastChunk: true, metadata: {} };
    yield { payload: { $case: "artifactUpdate", value } };
  }
  yield progress(end.status);
}
