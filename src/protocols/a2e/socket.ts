import { chmodSync } from "node:fs";
import { lstat, mkdtemp, rename, rm, unlink } from "node:fs/promises";
import { connect, createServer, type Server, type Socket } from "node:net";
import { dirname, join } from "node:path";

/** The address of a host: TCP, or a Unix socket. */
export type SessionAddress =
  | {
      /** `127.0.0.1` unless given. */
      readonly host?: string;
      readonly port: number;
    }
  | { readonly path: string };

/** A listening server. */
export interface Listening {
  /** The address, such as `127.0.0.1:4711`; for a Unix socket, its path. */
  readonly address: string;
  /** Accepts no more connections. Existing connections stay open. */
  close(): Promise<void>;
}

/**
 * Starts listening. A Unix socket is accessible only to this user from its creation on, and replaces the socket of a
 * process that no longer runs.
 *
 * @throws Error if the address is in use, or if the file at the path is not a socket.
 */
export async function listenAt(
  address: SessionAddress,
  accept: (socket: Socket) => void,
  onFailure: (error: unknown, what: string) => void,
): Promise<Listening> {
  // A peer that closes its sending end may still wait for answers.
  const server = createServer({ allowHalfOpen: true }, accept);
  const listening = await ("path" in address
    ? listenInFiles(server, address.path)
    : listenAtPort(server, address));
  // An error while listening need not be permanent: if no file descriptors are left, for example, later connections may
  // still be accepted.
  server.on("error", (error) => onFailure(error, "listening"));
  return listening;
}

async function listenAtPort(
  server: Server,
  address: Exclude<SessionAddress, { path: string }>,
): Promise<Listening> {
  const { host = "127.0.0.1", port } = address;
  await started(server, () => server.listen(port, host));
  const taken = server.address();
  const bound = typeof taken === "object" && taken !== null ? taken.port : port;
  return {
    address: `${host.includes(":") ? `[${host}]` : host}:${bound}`,
    close: async () => void server.close(),
  };
}

/**
 * Connects to a host.
 *
 * @throws Error if nothing listens at the address.
 */
export async function connectTo(address: SessionAddress, signal?: AbortSignal): Promise<Socket> {
  signal?.throwIfAborted();
  const socket =
    "path" in address
      ? connect({ path: address.path, allowHalfOpen: true })
      : connect({ host: address.host ?? "127.0.0.1", port: address.port, allowHalfOpen: true });
  await new Promise<void>((resolve, reject) => {
    const abort = (): void => {
      socket.destroy();
      reject(signal?.reason);
    };
    const fail = (error: Error): void => {
      signal?.removeEventListener("abort", abort);
      reject(error);
    };
    signal?.addEventListener("abort", abort, { once: true });
    socket.once("error", fail);
    socket.once("connect", () => {
      signal?.removeEventListener("abort", abort);
      socket.off("error", fail);
      resolve();
    });
  });
  return socket;
}

async function listenInFiles(server: Server, path: string): Promise<Listening> {
  await assertFree(path);
  // Create the socket in a folder that only this user can access, and move it once its permissions are set.
  const folder = await mkdtemp(join(dirname(path), ".a2e-"));
  const made = join(folder, "s");
  try {
    await started(server, () => server.listen(made));
    chmodSync(made, 0o600);
    await rename(made, path);
  } catch (error) {
    server.close();
    throw error;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
  const own = await lstat(path);
  const close = async (): Promise<void> => {
    server.close();
    try {
      const { ino, dev } = await lstat(path);
      // If another host has replaced the socket, leave the new one in place.
      if (ino === own.ino && dev === own.dev) await unlink(path);
    } catch {
      // The socket is already gone.
    }
  };
  return { address: path, close };
}

/** @throws Error if the file at the path is not a socket, or if a running process may listen there. */
async function assertFree(path: string): Promise<void> {
  const found = await lstat(path).catch((error: unknown) => {
    if (codeOf(error) === "ENOENT") return undefined;
    throw error;
  });
  if (found === undefined) return;
  if (!found.isSocket()) throw new Error(`${path} exists and is not a socket`);
  const socket = await connectTo({ path }).catch((error: unknown) => {
    const code = codeOf(error);
    // Any other error may come from a running process, for example one that is too busy to accept connections.
    if (code === "ECONNREFUSED" || code === "ENOENT") return undefined;
    throw new Error(`${path}: another process may listen there: ${code}`, { cause: error });
  });
  socket?.destroy();
  if (socket !== undefined) throw new Error(`${path}: another process listens there`);
}

function codeOf(error: unknown): string {
  return error instanceof Error && "code" in error ? String(error.code) : "no connection";
}

function started(server: Server, listen: () => void): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.once("listening", () => {
      server.off("error", reject);
      resolve();
    });
    listen();
  });
}
