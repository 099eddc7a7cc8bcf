import type { Row, Section } from "./row.js";

/** Writes docs/agent-auth-differences.md. */
export function differencesPage(sections: readonly Section[]): string {
  return [
    "# Agent-Auth: where the text, the reference implementation and our server differ",
    "",
    "Each row is one behaviour: what the [specification](https://agent-auth-protocol.com) 1.0-draft says of it, with its",
    "sections; what the reference implementation does, npm `better-auth` with `@better-auth/agent-auth`; what our server",
    "does; and why. Where a row gives no other reason, ours does what the text says.",
    "",
    "`test/protocols/agent-auth/differential` sends our server and the reference implementation the same requests: whole",
    "flows, and at least 2,000 generated requests, good and bad. It compares the HTTP status, the error code and the shape",
    "of each answer. Each difference that it sees must be in a row below, and each row must be seen there, or shown by",
    "another test; otherwise it fails. `message` is not compared, and the order of a list means nothing. It also writes",
    "this page: `PROVISO_TEST_SIZE=full npx vitest run test/protocols/agent-auth/differential --update`.",
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
