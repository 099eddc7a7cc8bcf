/** Closes something that was opened. */
export type Closing = () => unknown;

/** Opens things one after the other. If one fails, those before it are closed again. */
export async function openAll<Opened>(
  open: (opened: Closing[]) => Promise<Opened>,
): Promise<Opened> {
  const opened: Closing[] = [];
  try {
    return await open(opened);
  } catch (error) {
    await closeAll(opened).catch(() => {});
    throw error;
  }
}

/**
 * Closes in the opposite order, each whatever became of the others.
 *
 * @throws What closing throws, the first.
 */
export async function closeAll(opened: Closing[]): Promise<void> {
  const failures: unknown[] = [];
  for (let close = opened.pop(); close !== undefined; close = opened.pop()) {
    try {
      await close();
    } catch (error) {
      failures.push(error);
    }
  }
  if (failures.length > 0) throw failures[0];
}
