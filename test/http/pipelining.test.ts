import { once } from "node:events";
import { connect } from "node:net";
import { text } from "node:stream/consumers";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import { serve } from "../../src/http/serve.js";

test("a request that is pipelined behind another begins after the other ends, and never if the client disconnects", async () => {
  let taken = 0;
  let open = 0;
  const served = await serve({ answer: () => {}, onFailure: () => {}, grace: 0 }, {}, ({ app }) => {
    app.get("/slow", (_req, res) => {
      taken++;
      open++;
      res.once("close", () => open--);
    });
    app.get("/fast", (_req, res) => void setTimeout(() => res.json({ at: taken++ }), 50));
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

  const patient = connect(Number(port), "127.0.0.1");
  const said = text(patient);
  patient.write("GET /fast HTTP/1.1\r\nHost: localhost\r\n\r\n".repeat(2));
  patient.write("GET /fast HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
  expect((await said).match(/\{"at":\d\}/g)).toEqual(['{"at":1}', '{"at":2}', '{"at":3}']);
});
