import { connect } from "node:net";
import express from "express";
import { expect, test } from "vitest";
import { jsonBody } from "../../src/http/body.js";

/**
 * Sends a POST whose body arrives after the answer has begun. Returns the error that reaches Express's error
 * handler.
 */
async function lateBody(text: string): Promise<unknown> {
  const app = express();
  app.use((_req, res, next) => {
    // A middleware with a timeout can also begin the answer before the body has arrived.
    res.status(503).write("late");
    next();
  });
  const body = jsonBody(["application/json"], { bytes: 64, depth: 3 }, (res) => {
    res.status(400).json({});
  });
  app.use(body);
  const failed = new Promise((resolve) => {
    app.use(((error, _req, res, _next) => {
      res.end();
      resolve(error);
    }) satisfies express.ErrorRequestHandler);
  });
  const server = app.listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  const address = server.address();
  const socket = connect(typeof address === "object" ? (address?.port ?? 0) : 0, "127.0.0.1");
  const head = `POST / HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: ${text.length}\r\n\r\n`;
  socket.write(head);
  socket.once("data", () => socket.write(text));
  const error = await failed;
  socket.destroy();
  server.close();
  return error;
}

test("if a body is refused after the response has begun, the error goes to Express's error handler", async () => {
  expect(await lateBody("{not json")).toMatchObject({ type: "entity.parse.failed" });
  expect(await lateBody('["a list"]')).toMatchObject({ code: "ERR_HTTP_HEADERS_SENT" });
});
