import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { AGENT_CARD_SCHEMA } from "../../src/discovery/card-schema.js";
import { DISCOVERY_PARAMS_SCHEMA } from "../../src/discovery/params-schema.js";

// Editors and lint use the same schema. After a change of the schema, write the value as JSON into the file and
// run `npm run format`.
test.each([
  ["agent-card", AGENT_CARD_SCHEMA],
  ["discovery-params", DISCOVERY_PARAMS_SCHEMA],
])("schemas/%s.schema.json equals the schema that lint uses", (name, schema) => {
  const file = new URL(`../../schemas/${name}.schema.json`, import.meta.url);
  expect(JSON.parse(readFileSync(file, "utf8"))).toEqual(schema);
});
