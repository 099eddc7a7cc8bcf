import type { Row, Section } from "./row.js";

/** docs/agent-auth-differences.md. */
export function differencesPage(sections: readonly Section[]): string {
  return [
    "# Agent-Auth: where our server differs from the reference implementation",
    "",
    "`test/protocols/agent-auth/differential` sends our server and the reference implementation, npm",
    "`better-auth` with `@better-auth/agent-auth`, the same requests: whole flows, and at least 2,000 generated",
    "requests, good and bad. It compares the HTTP status, the error code and the shape of each answer. Each",
    "difference that it sees must be in a row below, and each row must be seen; otherwise it fails. It also",
    "writes this page: `PROVISO_TEST_SIZE=full npx vitest run test/protocols/agent-auth/differential --update`.",
    "",
    "The reason is one of three: a *bug of theirs* (against the text, or unsafe), a *gap in the text*, or *our",
    "decision*. `message` is not compared, and the order of a list means nothing.",
    ...sections.flatMap(({ title, rows }) => ["", `## ${title}`, "", ...table(rows)]),
    "",
  ].join("\n");
}

function table(rows: readonly Row[]): string[] {
  return [
    "| what | reference | ours | reason |",
    "| --- | --- | --- | --- |",
    ...rows.map(
      ({ what, reference, ours, reason, why }) =>
        `| ${[what, reference, ours, `${reason}: ${why}`].map(cell).join(" | ")} |`,
    ),
  ];
}

function cell(text: string): string {
  return text.replaceAll("|", "\\|");
}
