import { randomInt } from "node:crypto";
import { createServer } from "node:net";

/** Lower than the ports that operating systems give to sockets that name none. */
const [FIRST, LAST] = [20_000, 32_767];

/**
 * Returns a port of 127.0.0.1 on which nothing listens. It stays free, since the operating system gives this port to no
 * socket that names none.
 */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = randomInt(FIRST, LAST + 1);
    if (await isFree(port)) return port;
  }
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once("error", () => resolve(false));
    server.listen(port, "127.0.0.1", () => server.close(() => resolve(true)));
  });
}
