import { once } from "node:events";
import { connect, createServer, type Socket } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { inTime } from "../../src/storage/in-time.js";

const late = (): Error => new Error("late");

test("an operation that does not end within its time is rejected", async () => {
  await expect(inTime(new Promise(() => {}), 20, late)).rejects.toThrow("late");
});

test("an answer that arrives while this process is paused is not late", async () => {
  const server = createServer().listen(0, "127.0.0.1");
  onTestFinished(() => void server.close());
  await once(server, "listening");
  const address = server.address();
  const near = connect(typeof address === "object" ? (address?.port ?? 0) : 0, "127.0.0.1");
  onTestFinished(() => void near.destroy());
  const [far]: Socket[] = await once(server, "connection");
  const answer = once(near, "data").then(String);
  const answered = inTime(answer, 50, late);
  far?.write("answer");
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 200);
  expect(await answered).toBe("answer");
});
