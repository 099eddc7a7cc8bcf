import {
  createServer,
  type IncomingMessage,
  type RequestListener,
  type ServerResponse,
} from "node:http";
import { createServer as createSocketServer, type Socket } from "node:net";
import { afterAll } from "vitest";

/** A server on loopback that gives the answers of a test. The server runs until the end of the test file. */
export interface LoopbackServer {
  /** `http://127.0.0.1:PORT` */
  readonly url: string;
  readonly port: number;
  readonly requests: readonly IncomingMessage[];
}

export async function httpServer(answer: RequestListener): Promise<LoopbackServer> {
  const requests: IncomingMessage[] = [];
  const server = createServer((request, response) => {
    requests.push(request);
    answer(request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  afterAll(() => {
    server.closeAllConnections();
    server.close();
  });
  const port = portOf(server.address());
  return { url: `http://127.0.0.1:${port}`, port, requests };
}

/** Starts a TCP server. */
export async function rawServer(answer: (socket: Socket) => void): Promise<LoopbackServer> {
  const sockets = new Set<Socket>();
  const server = createSocketServer((socket) => {
    sockets.add(socket);
    socket.on("error", () => {});
    answer(socket);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  afterAll(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  const port = portOf(server.address());
  return { url: `http://127.0.0.1:${port}`, port, requests: [] };
}

/** Answers with a string of JSON. */
export function sendText(
  response: ServerResponse,
  text: string,
  headers: Readonly<Record<string, string>> = {},
): void {
  response.writeHead(200, { "Content-Type": "application/json", ...headers }).end(text);
}

function portOf(address: ReturnType<ReturnType<typeof createServer>["address"]>): number {
  if (typeof address !== "object" || address === null) throw new TypeError("it does not listen");
  return address.port;
}
