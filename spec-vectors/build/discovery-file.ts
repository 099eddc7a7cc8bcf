import type { DiscoverySubject } from "../definitions/discovery-test.js";
import { fileOf, type VectorFile } from "./vector-file.js";

// Each vector file has its own range of ids.
const FIRST_ID = 5001;

/** Returns the contents of `capability-discovery.json`. */
export function discoveryFile(subjects: readonly DiscoverySubject[]): VectorFile {
  const header = [
    "Decide from Agent Cards whether an agent, or a chain of agents, can do a task; check a registry.",
    "The specification is docs/spec.md, section 14; README.md says how to use this file.",
  ];
  let tcId = FIRST_ID;
  const groups = subjects.map(({ tests, ...group }) => ({
    ...group,
    tests: tests.map(({ comment, flags, asked, answer }) => ({
      tcId: tcId++,
      comment,
      flags,
      ...asked,
      ...answer,
    })),
  }));
  return fileOf(header, groups, "discovery.schema.json");
}
