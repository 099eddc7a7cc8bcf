import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";

/** The path of the package's folder. */
export const PACKAGE: string = fileURLToPath(new URL("../..", import.meta.url));

/** The entries of the package. Each has the exports that users begin with, which need an example. */
export const ENTRIES: readonly (readonly [entry: string, shown: readonly string[]])[] = [
  [
    "src/index.ts",
    ["attenuate", "bindDischarges", "chainId", "diff", "encodeHop", "inspect", "revocationId"],
  ],
  ["src/macaroon/index.ts", ["addThirdPartyCaveat", "readMacaroons", "verifyMacaroon"]],
  [
    "src/issuer/index.ts",
    ["createIssuer", "createKeyring", "createRevocationList", "importKeyring"],
  ],
  [
    "src/agent/index.ts",
    ["createIssuingAgent", "createPolicyTable", "createSkill", "delegationTree"],
  ],
  ["src/auth/index.ts", ["createFixedTokens", "createJwtAuthenticator", "wwwAuthenticate"]],
  [
    "src/stores/index.ts",
    ["openRevocations", "followKeyringFile", "openLedger", "replaceKeyringFile"],
  ],
  ["src/home/index.ts", ["openHome"]],
  ["src/middleware/express.ts", ["createCapabilityMiddleware"]],
  ["src/middleware/fetch.ts", ["createCapabilityMiddleware"]],
  ["src/middleware/node.ts", ["createCapabilityMiddleware"]],
  ["src/sources/index.ts", ["openFolder"]],
  ["src/protocols/delegation/index.ts", ["createDelegations", "serveDelegation"]],
  ["src/discovery/index.ts", ["checkRegistry", "compareCards", "judgeCard", "validateChain"]],
  ["src/protocols/a2a/index.ts", ["createAgentMetrics", "guard", "serveAgent"]],
  ["src/protocols/a2e/index.ts", ["createSessionHost"]],
  ["src/protocols/revocations/index.ts", ["createRevocationFeed", "followRevocations"]],
  ["src/protocols/a2a/client/index.ts", ["createCapabilityClient", "refusalOf", "withCapability"]],
];

/** A code block of an `@example`, without the margin of the comment. */
export interface Example {
  /** The path of the file, relative to the package's folder. */
  readonly file: string;
  /** The line in the file at which the code begins. */
  readonly line: number;
  readonly code: readonly string[];
}

const COMMENT = /\/\*\*[\s\S]*?\*\//g;
const FENCE = /@example\s*\n\s*\* ```ts\n([\s\S]*?)\n\s*\* ```/g;

/** Returns every example in the doc comments of `src`, ordered by file and line. */
export function examples(): Example[] {
  return sources().flatMap((file) => {
    const text = read(file);
    return [...text.matchAll(COMMENT)].flatMap((comment) =>
      [...comment[0].matchAll(FENCE)].map((fence) => {
        const body = fence[1] ?? "";
        const start = comment.index + fence.index + fence[0].indexOf(body);
        return {
          file,
          line: text.slice(0, start).split("\n").length,
          code: body.split("\n").map((line) => line.replace(/^\s*\* ?/, "")),
        };
      }),
    );
  });
}

/** Returns the functions, classes and constants that an entry exports, with their files. */
export function valueExports(entry: string): { readonly name: string; readonly file: string }[] {
  const text = read(entry);
  const own = text.matchAll(/^export (?:async )?(?:function|class|const|let) (\w+)/gm);
  const lists = text.matchAll(/export \{([^}]*)\} from "([^"]+)"/g);
  const others = [...lists].flatMap(([, names = "", source = ""]) =>
    names
      .split(",")
      .map((name) => name.trim())
      .filter((name) => name !== "" && !name.startsWith("type "))
      .map((name) => ({ name, file: join(dirname(entry), source.replace(/\.js$/, ".ts")) })),
  );
  return [...[...own].map(([, name = ""]) => ({ name, file: entry })), ...others];
}

/** Returns the doc comment directly before the declaration of `name`; `undefined` if there is none. */
export function docCommentOf(name: string, file: string): string | undefined {
  const text = read(file);
  const declaration = new RegExp(`^export (?:async )?(?:function|class|const|let) ${name}\\b`, "m");
  const at = declaration.exec(text)?.index;
  if (at === undefined) throw new Error(`${file} does not declare ${name}`);
  const before = text.slice(0, at).trimEnd();
  return before.endsWith("*/") ? before.slice(before.lastIndexOf("/**")) : undefined;
}

function sources(): string[] {
  return readdirSync(join(PACKAGE, "src"), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith(".ts"))
    .map((entry) => relative(PACKAGE, join(entry.parentPath, entry.name)))
    .sort();
}

function read(file: string): string {
  return readFileSync(join(PACKAGE, file), "utf8");
}
