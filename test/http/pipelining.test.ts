import { once } from "node:events";
import { connect } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import { serve } from "../../src/http/serve.js";

test("requests that are pipelined behind an unanswered request are closed, and none of them stays counted as open", async () => {
  let taken = 0;
  let open = 0;
  const served = await serve({ answer: () => {}, onFailure: () => {}, grace: 0 }, {}, ({ app }) => {
    app.get("/slow", (_req, res) => {
      taken++;
      open++;
      res.once("close", () => open--);
    });
    app.get("/fast", (_req, res) => void res.json({}));
    return { stop: async () => {} };
  });
  onTestFinished(() => served.close());
  const { port } = new URL(served.url);
  const socket = connect(Number(port), "127.0.0.1");
  socket.on("error", () => {});
  await once(socket, "connect");
  socket.write("GET /slow HTTP/1.1\r\nHost: localhost\r\n\r\n");
  await expect.poll(() => open).toBe(1);
  socket.write("GET /slow HTTP/1.1\r\nHost: localhost\r\n\r\n".repeat(3));
  await sleep(100);
  socket.destroy();
  await expect.poll(() => open).toBe(0);
  expect(taken).toBe(1);
  // Consecutive requests on one connection are not pipelined.
  for (let count = 0; count < 3; count++) {
    expect((await fetch(`${served.url}/fast`)).status).toBe(200);
  }
});
