import type { GateAuthority } from "../../src/protocols/mcp/authority/gate-authority.js";
import { createTokenAuthority } from "../../src/protocols/mcp/authority/token-authority.js";
import type { SessionOpening } from "../../src/protocols/mcp/front/http-front.js";
import type { OpenedSession } from "../../src/protocols/mcp/front/http-sessions.js";
import { openGateSession } from "../../src/protocols/mcp/gate/gate-session.js";
import { callerOf, sessionOpening } from "../../src/protocols/mcp/gate/session-opening.js";
import type { Message } from "../../src/protocols/mcp/message/message.js";
import {
  type ServerConnection,
  type ServerEnd,
  ServerError,
} from "../../src/protocols/mcp/server/connection.js";
import { openHttpServer } from "../../src/protocols/mcp/server/http-server.js";
import { startStdioServer } from "../../src/protocols/mcp/server/stdio-server.js";
import { PinStore } from "../../src/protocols/mcp/tools/pins.js";
import type { Context } from "../context.js";
import { environmentError } from "../exit.js";
import { printable, say } from "../output.js";
import { warn } from "../serve/log.js";
import { type Closing, closeAll, openAll } from "../serve/opened.js";
import { type GateIssuer, openGateIssuer } from "./gate-issuer.js";
import type { GateSettings } from "./gate-settings.js";
import { OwnTokens, ownTokenNotes } from "./own-tokens.js";
import type { ServerSource } from "./server-sources.js";

/** A session of a host, or the session that all HTTP clients of the new era share. */
interface OpenSession extends OpenedSession {
  readonly ended: Promise<ServerEnd>;
}

export interface Gate {
  /** Lines for the operator that the gate prints at its start. */
  readonly notes: readonly string[];
  /**
   * Starts the servers, and opens a session with them.
   *
   * @param stateless - `true` for the session that all HTTP clients of the new era share.
   * @throws CliError with the code of a server's failure.
   */
  openSession(stateless?: boolean): Promise<OpenSession>;
  /** Judges an `initialize` over HTTP: returns who opens the session, or the answer that refuses the session. */
  opening(message: Message, credentials: readonly string[]): Promise<SessionOpening>;
  /** Returns a name for the party that presents tokens over HTTP; `undefined` if they are not valid at present. */
  callerOf(credentials: readonly string[]): Promise<string | undefined>;
  close(): Promise<void>;
}

/**
 * Opens the issuer, the tokens and the pins of a gate. The servers start later, with each session.
 *
 * @throws CliError if the home, the keys or the gate's own token cannot be used.
 */
export function openGate(context: Context, settings: GateSettings): Promise<Gate> {
  return openAll(async (opened) => {
    const tokens = new OwnTokens(context, settings.tokens);
    const parts = await openGateIssuer(context, settings, opened);
    const { pinsCommand } = parts;
    for (const line of tokens.exposed) warn(context, line);
    const authority = authorityOf(context, settings, parts, tokens);
    opened.push(() => authority.close());
    const titles = new Map(settings.servers.map(({ name, title }) => [name, title]));
    const pins = new PinStore(parts.database, { titleOf: (name) => titles.get(name) ?? "" });
    const log = (line: string): void => say(context, printable(line));
    return {
      notes: [
        parts.note,
        ...ownTokenNotes(context, { ...settings, audience: parts.audience }, parts.issuer, tokens),
      ],
      async openSession(stateless) {
        const servers = await startAll(context, settings.servers, log);
        const session = openGateSession({ servers, authority, pins, log, stateless, pinsCommand });
        return { session, ended: endOf(servers) };
      },
      opening: (message, credentials) => sessionOpening(authority, message, credentials),
      callerOf: (credentials) => callerOf(authority, credentials),
      close: () => closeAll(opened),
    };
  });
}

function authorityOf(
  context: Context,
  { grant, servers, resolvePaths, recordValues }: GateSettings,
  { issuer, revocations, ledger, audience }: GateIssuer,
  tokens: OwnTokens,
): GateAuthority {
  const folders = new Map(
    servers.map((server) => [server.name, server.kind === "program" ? server.cwd : undefined]),
  );
  return createTokenAuthority({
    issuer,
    revocations,
    ledger,
    grant,
    audience,
    recordValues,
    ownTokens: tokens.areGiven ? () => tokens.read() : undefined,
    folderOf: resolvePaths ? (name) => folders.get(name) : undefined,
    onProblem: (error) => warn(context, error.message),
  });
}

/** Starts all servers. If a server does not start, ends the servers that have started. */
async function startAll(
  { env }: Context,
  sources: readonly ServerSource[],
  log: (line: string) => void,
): Promise<readonly ServerConnection[]> {
  const started: Closing[] = [];
  try {
    const servers: ServerConnection[] = [];
    for (const source of sources) {
      const server = await start(source, env, log);
      started.push(() => server.close());
      servers.push(server);
    }
    return servers;
  } catch (error) {
    await closeAll(started);
    if (!(error instanceof ServerError)) throw error;
    throw environmentError(
      error.code,
      error.message,
      "check the command, and that it is installed",
    );
  }
}

function start(
  source: ServerSource,
  env: Context["env"],
  log: (line: string) => void,
): Promise<ServerConnection> {
  if (source.kind === "address") {
    const { name, url, headers } = source;
    return Promise.resolve(openHttpServer({ name, url, headers, log }));
  }
  const { name, command, args, cwd } = source;
  return startStdioServer({ name, command, args, cwd, env: { ...env, ...source.env }, log });
}

/**
 * Waits until all servers have ended and the session has been notified.
 *
 * @returns The reason why the last server ended.
 */
function endOf(servers: readonly ServerConnection[]): Promise<ServerEnd> {
  return new Promise((resolve) => {
    let left = servers.length;
    for (const server of servers) {
      const { onEnd } = server;
      server.onEnd = (end) => {
        onEnd(end);
        left--;
        if (left === 0) resolve(end);
      };
    }
  });
}
