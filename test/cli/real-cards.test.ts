import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import type { Json } from "../../src/bytes/json.js";
import { changed } from "../discovery/changed.js";
import { Bench, document } from "./run.js";

// Cards of real agents, with names replaced, and the output of each verb for them.

const FOLDER = fileURLToPath(new URL("../discovery/real-cards/", import.meta.url));
const bench = new Bench();

interface Expected {
  /** Lines of the output of `proviso card`. */
  readonly card: readonly string[];
  /** The findings of `card lint`. */
  readonly lint: readonly string[];
  /** The number of errors that `card lint --protocol 1.0` reports. */
  readonly errorsIn1: number;
  /** For each version, the result of `discover --protocol`: the binding to use, or the codes of the denials. */
  readonly discover: Readonly<Record<"0.2" | "0.3" | "1.0", string>>;
  /** A change of the card, and the output of `card diff` for the change. */
  readonly diff: readonly [path: string, to: Json | undefined, lines: readonly string[]];
}

const OLDER = "remark version_older";
const UNKNOWN = "remark member_unknown";
const ABSENT = "remark contract_absent /capabilities";
const INCOMPATIBLE = "version_incompatible";
const TEXT = [
  "warning media_type /defaultInputModes/0",
  "warning media_type /defaultOutputModes/0",
] as const;
const SILENT = "  delegates   the card does not say";

const CARDS: Readonly<Record<string, Expected>> = {
  "0.1-authentication": {
    card: ["  JSONRPC  http://localhost:3000  (A2A 0.1 to 0.2)"],
    lint: [`${OLDER} `, ABSENT],
    errorsIn1: 1,
    discover: { "0.2": "JSONRPC", "0.3": INCOMPATIBLE, "1.0": INCOMPATIBLE },
    diff: [
      "/protocolVersion",
      "0.3.0",
      ["breaking interfaces/JSONRPC http://localhost:3000/versions: 0.1 to 0.2 is now 0.3"],
    ],
  },
  "0.2-booking": {
    card: ["  JSONRPC  https://ferries.example/  (A2A 0.1 to 0.2)"],
    lint: [`${OLDER} `, ABSENT, ...TEXT],
    errorsIn1: 1,
    discover: { "0.2": "JSONRPC", "0.3": INCOMPATIBLE, "1.0": INCOMPATIBLE },
    diff: [
      "/capabilities/pushNotifications",
      false,
      ["breaking capabilities/push_notifications: true is now false"],
    ],
  },
  "0.3-vendor-interfaces": {
    card: [
      "  JSONRPC  https://index.example  (A2A 0.3)",
      "  denies      streaming, push_notifications, stateTransitionHistory",
    ],
    lint: [
      `${OLDER} /protocolVersion`,
      ABSENT,
      `${UNKNOWN} /skills/0/inputSchema`,
      `${UNKNOWN} /interfaces`,
    ],
    errorsIn1: 1,
    discover: { "0.2": INCOMPATIBLE, "0.3": "JSONRPC", "1.0": INCOMPATIBLE },
    diff: [
      "/interfaces/mcp",
      undefined,
      ['safe card/interfaces/mcp: "https://index.example/mcp" is gone'],
    ],
  },
  "0.3-signed": {
    card: [
      "  JSONRPC    https://claims.example/a2a/v1  (A2A 0.3)",
      "  GRPC       claims.example:443  (A2A 0.3)",
      "  declares    streaming, extended_agent_card, push_notifications, stateTransitionHistory",
      "  signatures  1, not verified here",
    ],
    lint: [`${OLDER} /protocolVersion`, ABSENT],
    errorsIn1: 3,
    discover: { "0.2": INCOMPATIBLE, "0.3": "JSONRPC", "1.0": INCOMPATIBLE },
    diff: [
      "/additionalInterfaces/2",
      undefined,
      [
        "breaking interfaces/HTTP+JSON https://claims.example/a2a/json: it is gone, and spoke 0.3",
        'safe     preference: an array of 3 is now ["JSONRPC https://claims.example/a2a/v1","GRPC claims.example:443"]',
      ],
    ],
  },
  "0.3-tools": {
    card: ["  JSONRPC  https://tools.example/ledger/a2a  (A2A 0.3)", "  MCP      /mcp  (A2A 0.3)"],
    lint: [ABSENT, `${OLDER} /protocolVersion`, `${UNKNOWN} /x-tools`],
    errorsIn1: 1,
    discover: { "0.2": INCOMPATIBLE, "0.3": "JSONRPC", "1.0": INCOMPATIBLE },
    diff: ["/version", "1.0.6", ['safe card/version: "1.0.5" is now "1.0.6"']],
  },
  "1.0-two-versions": {
    card: [
      "  JSONRPC  http://localhost:10999  (A2A 1.0)",
      "  JSONRPC  http://localhost:10999  (A2A 0.3)",
    ],
    lint: [...TEXT, ABSENT],
    errorsIn1: 0,
    discover: { "0.2": INCOMPATIBLE, "0.3": "JSONRPC", "1.0": "JSONRPC" },
    diff: [
      "/supportedInterfaces/1",
      undefined,
      ["breaking interfaces/JSONRPC http://localhost:10999/versions: 0.3, 1.0 are now 1.0"],
    ],
  },
  "1.0-and-0.3": {
    card: ["  declares    streaming, extended_agent_card, push_notifications"],
    lint: [
      ...["url", "protocolVersion", "preferredTransport", "additionalInterfaces"].map(
        (name) => `${UNKNOWN} /${name}`,
      ),
      ABSENT,
      ...["supportsAuthenticatedExtendedCard", "linker"].map((name) => `${UNKNOWN} /${name}`),
    ],
    errorsIn1: 0,
    discover: { "0.2": INCOMPATIBLE, "0.3": "JSONRPC", "1.0": "JSONRPC" },
    diff: ["/capabilities/streaming", undefined, ["breaking capabilities/streaming: true is gone"]],
  },
  "1.0-contract": {
    card: [
      "  JSONRPC  https://actions.example/a2a/rpc  (A2A 1.0 to 1.2)",
      "  declares   pause_resume, context_reuse",
      "  versions   0.3 to 1.2",
      "  delegates  the card does not say",
    ],
    lint: [
      ...["min_protocol_version", "max_protocol_version"].map((name) => `${UNKNOWN} /${name}`),
      "warning delegates_absent /capabilities",
      ...["pause_resume", "context_reuse", "multi_tenant"].map(
        (name) => `${UNKNOWN} /capabilities/${name}`,
      ),
    ],
    errorsIn1: 0,
    discover: { "0.2": INCOMPATIBLE, "0.3": INCOMPATIBLE, "1.0": "JSONRPC" },
    diff: [
      "/max_protocol_version",
      "1.1",
      [
        "breaking interfaces/JSONRPC https://actions.example/a2a/rpc/versions: 1.0 to 1.2 is now 1.0 to 1.1",
        'safe     range: "0.3 to 1.2" is now "0.3 to 1.1"',
      ],
    ],
  },
  "1.0-websocket": {
    card: [
      "  HTTP+JSON                                    https://routes.example/a2a  (A2A 1.0)",
      SILENT,
    ],
    lint: [
      "remark contract /supportedInterfaces/1/protocolVersion",
      ABSENT,
      "warning member_unknown /security",
    ],
    errorsIn1: 0,
    discover: { "0.2": INCOMPATIBLE, "0.3": INCOMPATIBLE, "1.0": "HTTP+JSON" },
    diff: [
      "/defaultOutputModes/1",
      undefined,
      ['breaking card/defaultOutputModes: "image/png" is gone'],
    ],
  },
  "no-card": {
    card: ["  discover refuses this card: /capabilities: expected an object, not an array"],
    lint: [
      ...Array(3).fill("error schema "),
      `${OLDER} `,
      `${UNKNOWN} /type`,
      "error schema /capabilities",
      ABSENT,
      `${UNKNOWN} /endpoints`,
      ...Array(2).fill("error schema /provider"),
      `${UNKNOWN} /provider/name`,
    ],
    errorsIn1: 7,
    discover: {
      "0.2": "card_malformed",
      "0.3": `card_malformed ${INCOMPATIBLE}`,
      "1.0": `card_malformed ${INCOMPATIBLE}`,
    },
    diff: ["/type", "page", ['safe card/type: "agent" is now "page"']],
  },
};

test("every real card in the folder has an expected result", () => {
  const names = readdirSync(FOLDER).map((file) => file.replace(/\.json$/, ""));
  expect(names.sort()).toEqual(Object.keys(CARDS).sort());
  expect(names.length).toBeGreaterThanOrEqual(10);
});

describe.each(Object.entries(CARDS))("the card %s", (name, expected) => {
  const text = readFileSync(`${FOLDER}${name}.json`, "utf8");
  const file = bench.write(`${name}.json`, text);

  test("is shown by proviso card in the expected lines", async () => {
    // The width of a column depends on its widest entry, so compare without it.
    const plain = (line: string): string => line.trim().replace(/ {2,}/g, "  ");
    const lines = (await bench.output("card", file)).split("\n").map(plain);
    for (const line of expected.card) expect(lines).toContain(plain(line));
  });

  test("gets the expected findings of card lint, by its own A2A version and by 1.0", async () => {
    const { findings, errors } = document(
      (await bench.run(["card", "lint", file, "--json"])).stdout,
    );
    const found: readonly { severity: string; code: string; path: string }[] = findings;
    expect(found.map(({ severity, code, path }) => `${severity} ${code} ${path}`)).toEqual(
      expected.lint,
    );
    expect(errors).toBe(expected.lint.filter((one) => one.startsWith("error")).length);
    const in1 = await bench.run(["card", "lint", file, "--protocol", "1.0", "--json"]);
    expect(document(in1.stdout)["errors"]).toBe(expected.errorsIn1);
    expect(in1.status).toBe(expected.errorsIn1 > 0 ? 1 : 0);
  });

  test.each(Object.entries(expected.discover))(
    "gets the expected verdict of discover --protocol %s",
    async (version, said) => {
      const { status, stdout } = await bench.run([
        "discover",
        file,
        "--protocol",
        version,
        "--json",
      ]);
      const { usable, interface: chosen, denials } = document(stdout);
      const codes: readonly { code: string }[] = denials ?? [];
      expect(usable ? chosen.binding : codes.map(({ code }) => code).join(" ")).toBe(said);
      expect(status).toBe(usable ? 0 : 1);
    },
  );

  test("gets the expected changes of card diff", async () => {
    expect(await bench.output("card", "diff", file, file)).toBe("The cards are the same.");
    const [path, to, lines] = expected.diff;
    const next = bench.write(
      `${name}-next.json`,
      JSON.stringify(changed(JSON.parse(text), path, to)),
    );
    const { stdout } = await bench.run(["card", "diff", file, next]);
    expect(
      stdout
        .trimEnd()
        .split("\n")
        .map((line) => line.replace(/^(\w+) {2}/, "$1 ")),
    ).toEqual(lines);
  });
});
