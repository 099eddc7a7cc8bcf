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
   * The title of the server's pins: the name that `--name` gives, or the name and the configuration file. `undefined`
   * for a server on the command line without `--name`.
   */
  readonly title: string | undefined;
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
    return [{ name: undefined, title, kind: "address", url, headers: {} }];
  }
  const [command = "", ...args] = words;
  const { cwd } = context;
  return [{ name: undefined, title, kind: "program", command, args, cwd, env: {} }];
}

function serverUrl(text: string, place: string, insecure: boolean): URL {
  return readGateUrl(text, place, insecure, "calls", "https://server.example/mcp");
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
