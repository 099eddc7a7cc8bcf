import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import ts from "typescript";
import { describe, expect, test } from "vitest";

// Calls every function of every entry as a program without type checks might: without arguments, with a Promise
// that was not awaited, and with a number. The function must throw a TypeError that names an argument. It must
// not throw an error of the JavaScript engine, and must not take a Promise for an empty object.

const ROOT = fileURLToPath(new URL("../..", import.meta.url));

interface Manifest {
  readonly exports: { readonly [entry: string]: string | { readonly types: string } };
}

const { exports: entries }: Manifest = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8"));
const sources = Object.entries(entries).flatMap(([entry, target]) =>
  typeof target === "string"
    ? []
    : [{ entry, file: join(ROOT, target.types.replace("./dist/", "").replace(".d.ts", ".ts")) }],
);

const CALLS = {
  nothing: () => [],
  "a Promise": () => [Promise.resolve({})],
  "a number": () => [5],
} as const;
type Call = keyof typeof CALLS;

/** Calls that are valid according to the documentation of a function. */
const TAKEN: { readonly [name: string]: readonly Call[] } = {
  // These functions have no parameters.
  createNonce: ["nothing", "a Promise", "a number"],
  generateKey: ["nothing", "a Promise", "a number"],
  // All parameters of these functions are optional.
  createKeyring: ["nothing"],
  createRevocationList: ["nothing"],
  createAgentMetrics: ["nothing"],
  createAgentFetch: ["nothing"],
  createCardCache: ["nothing"],
  // The documentation of these functions says "whatever JSON it is given" and "what is not an object says
  // nothing".
  readCard: ["nothing", "a number"],
  delegatedTo: ["nothing", "a number"],
  // Its documentation says "undefined if it is about something else", so it accepts any thrown value.
  refusalOf: ["nothing", "a Promise", "a number"],
};

/** Matches a JavaScript engine's error message about an argument that was not checked. */
const ENGINE =
  /Cannot (?:read|set|destructure|convert|use|access)|is not (?:a function|iterable|a constructor|an object|defined)|called on non-object|private member|The ".*" argument must be/;

const program = ts.createProgram(
  sources.map(({ file }) => file),
  {
    target: ts.ScriptTarget.ES2022,
    module: ts.ModuleKind.NodeNext,
    noEmit: true,
    moduleResolution: ts.ModuleResolutionKind.NodeNext,
    noLib: true,
    types: [],
  },
);
const checker = program.getTypeChecker();

/** Reads the names of a function's parameters from its signature. */
function parametersOf(file: string, name: string): readonly string[] {
  const source = program.getSourceFile(file);
  const module = source && checker.getSymbolAtLocation(source);
  if (source === undefined || module === undefined) throw new Error(`${file} is no module`);
  const found = checker.getExportsOfModule(module).find((symbol) => symbol.name === name);
  if (found === undefined) throw new Error(`${file} exports no ${name}`);
  const type = checker.getTypeOfSymbolAtLocation(found, source);
  return checker
    .getSignaturesOfType(type, ts.SignatureKind.Call)
    .flatMap((signature) => signature.parameters.map((parameter) => parameter.name));
}

/** Returns the error that a call throws, or with which its promise is rejected; `undefined` if the call returns. */
async function thrown(call: () => unknown): Promise<unknown> {
  try {
    await call();
    return undefined;
  } catch (error) {
    return error;
  }
}

describe.each(sources)("proviso$entry", async ({ file }) => {
  const module: Record<string, unknown> = await import(file);
  const functions = Object.entries(module).flatMap(([name, value]) =>
    typeof value === "function" && !/^class\b/.test(`${value}`) ? [{ name, value }] : [],
  );

  test("can be imported", () => {
    for (const { value } of functions) expect(value).toBeTypeOf("function");
  });

  for (const { name, value } of functions) {
    for (const call of Object.keys(CALLS) as Call[]) {
      if (TAKEN[name]?.includes(call) === true) continue;
      test(`${name} called with ${call} is refused with a TypeError that names a parameter`, async () => {
        const error = await thrown(() => Reflect.apply(value, undefined, CALLS[call]()));
        expect(error).toBeInstanceOf(TypeError);
        const { message } = error as TypeError;
        expect(message).not.toMatch(ENGINE);
        const parameters = parametersOf(file, name);
        const start = /^[A-Za-z]+/.exec(message)?.[0];
        expect(parameters, message).toContain(start);
      });
    }
  }
});

test("the functions accept the values that are documented as accepted", async () => {
  const all = await Promise.all(sources.map(({ file }) => import(file)));
  for (const [name, calls] of Object.entries(TAKEN)) {
    const value: unknown = all.map((module) => module[name]).find((one) => one !== undefined);
    if (typeof value !== "function") throw new Error(`there is no ${name}`);
    for (const call of calls) {
      expect(await thrown(() => Reflect.apply(value, undefined, CALLS[call]()))).toBeUndefined();
    }
  }
});
