import { statSync } from "node:fs";
import { TokenError } from "../../src/bytes/token-error.js";
import type { Denial } from "../../src/capability/denial.js";
import type { Issuer } from "../../src/issuer/issuer.js";
import { OwnTokenError } from "../../src/protocols/mcp/authority/token-reader.js";
import { exposureOf } from "../../src/storage/new-file.js";
import { following, stampOf } from "../../src/system/file-stamp.js";
import { absolutePath, type Context } from "../context.js";
import { CliError, environmentError, usageError } from "../exit.js";
import { quoted } from "../output.js";
import { adviceForDenial, exitForDenial } from "../refusal.js";
import { warn } from "../serve/log.js";
import { readTokensArgument } from "../token-argument.js";
import { summaryLine } from "../token-words.js";
import type { GateSettings } from "./gate-settings.js";

/** Milliseconds between two checks of the token files for changes. */
const REFRESH = 100;

/** One value of the option `--token`. */
interface Source {
  /** A phrase that names the gate's token in messages, including its file if it has one. */
  readonly name: string;
  readonly read: () => readonly string[];
}

/** Reads the tokens of `--token`, each given as a string or as `@FILE`. A file is read again when it changes. */
export class OwnTokens {
  readonly #sources: readonly Source[];
  /** A sentence about each token file that other users can read. */
  readonly exposed: readonly string[];

  constructor(context: Context, given: readonly string[]) {
    const isFile = (argument: string): boolean => argument.startsWith("@");
    this.#sources = given.map((argument) =>
      isFile(argument) ? followed(context, argument) : constant(context, argument),
    );
    this.exposed = given.filter(isFile).flatMap((argument) => {
      const path = pathOf(context, argument);
      const stat = statSync(path, { throwIfNoEntry: false });
      const exposure = stat === undefined ? undefined : exposureOf(stat);
      return exposure === undefined ? [] : [`others may read the token in ${path}: ${exposure}`];
    });
  }

  /** `true` if the gate has at least one token of its own. */
  get areGiven(): boolean {
    return this.#sources.length > 0;
  }

  /** @throws OwnTokenError if a file cannot be read. */
  read(): readonly string[] {
    return this.named().map(({ text }) => text);
  }

  /**
   * Reads the tokens, each with a phrase that names it in messages.
   *
   * @throws OwnTokenError if a file cannot be read.
   */
  named(): readonly { readonly name: string; readonly text: string }[] {
    return this.#sources.flatMap(({ name, read }) => read().map((text) => ({ name, text })));
  }
}

function constant(context: Context, argument: string): Source {
  const tokens = readTokensArgument(context, argument);
  return { name: "the gate's token", read: () => tokens };
}

function followed(context: Context, argument: string): Source {
  const path = pathOf(context, argument);
  const name = `the gate's token in ${path}`;
  const read = following(
    REFRESH,
    () => stampOf(statSync(path, { bigint: true })),
    () => readTokensArgument(context, argument),
  );
  const orFail = (): readonly string[] => {
    try {
      return read();
    } catch (error) {
      throw new OwnTokenError(`${name} cannot be read: ${reasonOf(error)}`);
    }
  };
  return { name, read: orFail };
}

/** Returns the path of the file that `@FILE` or `@FILE:2` names. */
function pathOf(context: Context, argument: string): string {
  const named = absolutePath(context, argument.slice(1));
  if (statSync(named, { throwIfNoEntry: false }) !== undefined) return named;
  return named.replace(/:[1-9]\d{0,3}$/, "");
}

function reasonOf(error: unknown): string {
  if (error instanceof CliError || error instanceof TokenError) return error.message;
  return "there is no such file, or this user may not read it";
}

/**
 * Checks the gate's own tokens at the start, and returns a line about each. An expired or revoked token causes only a
 * warning, because a new token may replace it while the gate runs.
 *
 * @throws CliError if a token cannot be read, is from another issuer, or is for another grant.
 */
export function ownTokenNotes(
  context: Context,
  {
    grant,
    listen,
    audience,
  }: Pick<GateSettings, "grant" | "listen"> & { readonly audience: string },
  issuer: Issuer,
  tokens: OwnTokens,
): readonly string[] {
  const own = readAtStart(tokens);
  if (own.length === 0) {
    if (listen !== undefined) return [];
    return ['no token of its own: each call must present one in _meta, "dev.proviso/capability"'];
  }
  for (const { name, text } of own) {
    const found = issuer.authenticate(text);
    if (!found.ok) {
      const { code, message } = found.denial;
      const hint = adviceAtStart(found.denial);
      const words = `${name} cannot be used: ${message}`;
      throw new CliError({ code, message: words, exitCode: exitForDenial(code), hint });
    }
    const { identifier } = found.token;
    if (identifier.grant !== grant) {
      const message = `${name} is for the grant ${quoted(identifier.grant)}, and the gate's is ${quoted(grant)}`;
      throw usageError(message, "--grant names the grant of the tokens");
    }
    const standing = issuer.standing(found.token, { audience });
    if (standing.allowed) continue;
    for (const { code, message } of standing.denials) {
      const advice = code === "expired" ? "; proviso mcp token writes a new one" : "";
      warn(context, `${name} allows nothing: ${message}${advice}`);
    }
  }
  return own.map(({ text }) => `token ${summaryLine(text)}`);
}

function adviceAtStart(denial: Denial): string {
  if (denial.code === "unknown_key") {
    return "name the home that made it with --home, or give a token of this one";
  }
  if (denial.code === "token_malformed") return "proviso mcp token -o FILE writes a new one";
  return adviceForDenial(denial) ?? "give a token of this gate's issuer";
}

function readAtStart(tokens: OwnTokens): ReturnType<OwnTokens["named"]> {
  try {
    return tokens.named();
  } catch (error) {
    if (!(error instanceof OwnTokenError)) throw error;
    const hint = "proviso mcp token writes one; proviso mcp learn finds out what it must allow";
    throw environmentError("token_unreadable", error.message, hint);
  }
}
