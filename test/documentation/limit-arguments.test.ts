import { readFileSync } from "node:fs";
import { beforeAll, describe, expect, test } from "vitest";
import { inspect } from "../../src/index.js";
import { Bench } from "../cli/run.js";

// Each row of the tables in docs/guides/limit-arguments.md is true: the option gives this hop, and the hop
// allows and refuses these calls.

const page = readFileSync(new URL("../../docs/guides/limit-arguments.md", import.meta.url), "utf8");

interface Row {
  readonly flag: string;
  readonly value: string;
  readonly entry: object;
  readonly allows: readonly string[];
  readonly refuses: readonly string[];
}

const rows = [...page.matchAll(/^\| `(--[\w-]+) '?([^`']+)'?` \|(.+)\|(.+)\|(.+)\|$/gm)].map(
  ([, flag = "", value = "", entry = "", allows = "", refuses = ""]): Row => ({
    flag,
    value,
    allows: codeIn(allows),
    refuses: codeIn(refuses),
    entry: JSON.parse(codeIn(entry)[0] ?? ""),
  }),
);

function codeIn(cell: string): readonly string[] {
  return [...cell.matchAll(/`([^`]+)`/g)].map(([, code = ""]) => code);
}

const bench = new Bench();
beforeAll(() => bench.init());

test("docs/guides/limit-arguments.md has a row for each operator, with allowed and refused calls", () => {
  expect(rows).toHaveLength(17);
  for (const { allows, refuses } of rows) {
    expect(allows.length).toBeGreaterThan(0);
    expect(refuses.length).toBeGreaterThan(0);
  }
  const all = JSON.stringify(rows.map(({ entry }) => entry));
  const operators = ["min", "max", "in", "not_in", "optional", "absent", "path", "url", "prefix"];
  for (const operator of [...operators, "each", "items"]) expect(all).toContain(`"${operator}"`);
});

describe.each(rows)(
  "in docs/guides/limit-arguments.md, $flag $value",
  ({ flag, value, entry, allows, refuses }) => {
    const [operation = ""] = Object.keys(entry);
    const op = operation === "*" ? "any" : operation;
    let token = "";
    beforeAll(async () => {
      token = await bench.output("mint", "--grant", "g", "--op", op, flag, value);
    });

    async function status(call: string): Promise<number | null> {
      const given = Object.entries(JSON.parse(call)).flatMap(([name, one]) => [
        "--arg",
        `${name}=${JSON.stringify(one)}`,
      ]);
      return (await bench.run(["verify", token, "--grant", "g", "--op", op, ...given])).status;
    }

    test("makes the hop that the row shows", () => {
      const { operationConstraints, arguments: lists } = inspect(token).links[0]?.hop ?? {};
      expect(operationConstraints ?? lists).toEqual(entry);
    });

    test.each(allows)("allows %s", async (call) => {
      expect(await status(call)).toBe(0);
    });

    test.each(refuses)("refuses %s", async (call) => {
      expect(await status(call)).toBe(1);
    });
  },
);
