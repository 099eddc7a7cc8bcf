import { CREDENTIALS } from "./credentials.js";
import { FRAME } from "./frame.js";
import { EXECUTIONS, GRANTS } from "./grants.js";
import { LISTS } from "./lists.js";
import { REGISTRY } from "./registry.js";
import type { Section } from "./row.js";

/** Every difference between our server and the reference implementation that is meant to be. */
export const SECTIONS: readonly Section[] = [
  FRAME,
  CREDENTIALS,
  LISTS,
  REGISTRY,
  GRANTS,
  EXECUTIONS,
];
