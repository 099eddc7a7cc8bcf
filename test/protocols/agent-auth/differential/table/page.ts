import type { Row, Section } from "./row.js";

/** Returns the text of docs/agent-auth-differences.md. */
export function differencesPage(sections: readonly Section[]): string {
  return [
    "# Agent-Auth: differences between the specification, the reference implementation and our server",
    "",
    "Each row describes one behaviour. The first column has the rule of the",
    "[specification](https://agent-auth-protocol.com) 1.0-draft, with its section numbers. The second column says what the",
    "reference implementation does (npm `better-auth` with `@better-auth/agent-auth`), the third column what our server",
    'does, and the last column gives the reason. "As specified" means that our server follows the specification.',
    "",
    "`test/protocols/agent-auth/differential` sends the same requests to our server and to the reference implementation:",
    "whole flows, and 800 generated requests, valid and invalid (2,000 in the weekly run of CI). It compares the HTTP status,",
    "the error code and the form of each answer, but not `message` and not the order of a list. The test fails if it finds a",
    "difference without a row on this page, or if no test shows the difference of a row. `--update` writes this page:",
    "`PROVISO_TEST_SIZE=full npx vitest run test/protocols/agent-auth/differential --update`.",
    ...sections.flatMap(({ title, rows }) => ["", `## ${title}`, "", ...table(rows)]),
    "",
  ].join("\n");
}

function table(rows: readonly Row[]): string[] {
  return [
    "| specification | reference | ours | why |",
    "| --- | --- | --- | --- |",
    ...rows.map(
      ({ what, text, reference, ours, why }) =>
        `| ${[`**${what}**: ${text}`, reference, ours, why].map(cell).join(" | ")} |`,
    ),
  ];
}

function cell(text: string): string {
  return text.replaceAll("|", "\\|");
}
