import type { Section } from "./row.js";

export const LISTS: Section = {
  title: "Discovery, list and describe",
  rows: [
    {
      what: "`/api/auth/agent/agent-configuration` and `/api/search`",
      reference: "404",
      ours: "the discovery document, and a directory with this server in it",
      reason: "gap in the text",
      why: "the published client asks there",
      places: [{ step: /^discovery: (fallback|directory)/, path: /^/, reference: /404|nothing/ }],
    },
    {
      what: "`next_cursor` on the last page",
      reference: "absent",
      ours: "null",
      reason: "bug of theirs",
      why: "the text's answer has it",
      places: [{ path: "next_cursor", reference: "–", ours: "null" }],
    },
    {
      what: "a limit that is no whole number above 0",
      reference: "read as it comes; pages repeat or end early",
      ours: "400 `invalid_request`",
      reason: "bug of theirs",
      why: "such a walk never ends",
      places: [
        {
          endpoint: /capability\/list/,
          step: /limit|empty parameters|odd parameters/,
          path: "outcome",
          reference: "200",
          ours: "400 invalid_request",
        },
      ],
    },
    {
      what: "cursors",
      reference: "the offset as a number; any other text starts anywhere",
      ours: "sealed for the party that got it; another is 400 `invalid_request`",
      reason: "bug of theirs",
      why: "the text calls them opaque",
      places: [
        {
          endpoint: /capability\/list/,
          step: /cursor/,
          path: "outcome",
          reference: "200",
          ours: "400 invalid_request",
        },
      ],
    },
    {
      what: "search",
      reference: "words with stems and synonyms, globs, and regular expressions run as they come",
      ours: "words and globs",
      reason: "bug of theirs",
      why: "an expression from a caller can hold up the server for ever; the text says nothing of how to search",
      places: [{ endpoint: /capability\/list/, step: /^list: query/, path: /^capabilities/ }],
    },
    {
      what: "`input` of a capability without a schema",
      reference: "absent",
      ours: '`{"type":"object"}`',
      reason: "our decision",
      why: "a skill always says what it takes",
      places: [{ path: /(^|\.)input$/, reference: "–", ours: '{"type":"object"}' }],
    },
  ],
};
