import { createHash } from "node:crypto";
import { resolve } from "node:path";
import type { Context } from "../context.js";
import type { ReadConfig } from "../serve/config.js";
import { secretAt } from "../serve/secret.js";
import type { GateConfig, ServerConfig } from "./gate-config.js";
import { readGateUrl } from "./gate-url.js";

/** One server behind the gate. */
export type ServerSource = {
  readonly name: string | undefined;
  /**
   * A string that identifies the server in the pins of all gates of a home: the name that `--name` gives, the name and
   * the configuration file, or a {@link titleOfProgram} or {@link titleOfAddress}.
   */
  readonly title: string;
} & (
  | {
      readonly kind: "program";
      readonly command: string;
      readonly args: readonly string[];
      readonly cwd: string | undefined;
      readonly env: { readonly [name: string]: string };
    }
  | {
      readonly kind: "address";
      readonly url: URL;
      readonly headers: { readonly [name: string]: string };
    }
);

/** The options of `proviso mcp gate` that name a single server. */
interface ServerOptions {
  readonly upstream?: string | undefined;
  readonly name?: string | undefined;
  readonly insecure: boolean;
}

/**
 * Returns the servers of the configuration; without a configuration, the server that the command line names.
 *
 * @throws CliError if the address of a server or a value for a header cannot be used.
 */
export function serversFrom(
  context: Context,
  { upstream, name: title, insecure }: ServerOptions,
  words: readonly string[],
  read: ReadConfig<GateConfig> | undefined,
): readonly ServerSource[] {
  if (read !== undefined) {
    return Object.entries(read.config.servers).map(([name, server]) =>
      namedServer(context, name, server, { ...read, insecure }),
    );
  }
  if (upstream !== undefined) {
    const url = serverUrl(upstream, "--upstream", insecure);
    const named = title ?? titleOfAddress(url);
    return [{ name: undefined, title: named, kind: "address", url, headers: {} }];
  }
  const [command = "", ...args] = words;
  const { cwd } = context;
  const named = title ?? titleOfProgram(command, args, cwd);
  return [{ name: undefined, title: named, kind: "program", command, args, cwd, env: {} }];
}

function serverUrl(text: string, place: string, insecure: boolean): URL {
  return readGateUrl(text, place, insecure, "calls", "https://server.example/mcp");
}

/**
 * Identifies a program by its command, its working folder and a digest of its arguments. The arguments themselves may
 * be secret, and pins are stored and printed.
 */
function titleOfProgram(command: string, args: readonly string[], cwd = ""): string {
  const place = `${command} in ${cwd}`;
  return args.length === 0 ? place : `${place}, arguments ${digestOf(JSON.stringify(args))}`;
}

/** Identifies a server over HTTP by its origin and a digest of the rest of its URL, which may contain a secret. */
function titleOfAddress({ origin, pathname, search }: URL): string {
  return `${origin}, path ${digestOf(`${pathname}${search}`)}`;
}

/** Returns the first 64 bits of a SHA-256 digest, in hexadecimal. */
function digestOf(text: string): string {
  return createHash("sha256").update(text).digest("hex").slice(0, 16);
}

function namedServer(
  context: Context,
  name: string,
  { command, args, cwd, env, url, headers }: ServerConfig,
  read: ReadConfig<GateConfig> & { readonly insecure: boolean },
): ServerSource {
  const { file, folder, insecure } = read;
  const title = `${name} in ${file}`;
  if (url !== undefined) {
    const values = Object.entries(headers).map(([header, value]) => {
      const place = `servers.${name}.headers.${header}`;
      return [header, typeof value === "string" ? value : secretAt(context, read, place, value)];
    });
    const address = serverUrl(url, `${file}: servers.${name}.url`, insecure);
    return { name, title, kind: "address", url: address, headers: Object.fromEntries(values) };
  }
  const place = cwd === undefined ? context.cwd : resolve(folder, cwd);
  return { name, title, kind: "program", command: command ?? "", args, cwd: place, env };
}
