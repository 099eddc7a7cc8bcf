import { CREDENTIALS } from "./credentials.js";
import { FRAME } from "./frame.js";
import { EXECUTIONS, GRANTS } from "./grants.js";
import { KEYS } from "./keys.js";
import { LISTS } from "./lists.js";
import { REGISTRY } from "./registry.js";
import type { Section } from "./row.js";

/** All behaviours in which the specification, the reference and our server do not all agree. */
export const SECTIONS: readonly Section[] = [
  FRAME,
  CREDENTIALS,
  KEYS,
  LISTS,
  REGISTRY,
  GRANTS,
  EXECUTIONS,
];
