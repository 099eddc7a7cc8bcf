import { CREDENTIALS } from "./credentials.js";
import { FRAME } from "./frame.js";
import { EXECUTIONS, GRANTS } from "./grants.js";
import { KEYS } from "./keys.js";
import { LISTS } from "./lists.js";
import { REGISTRY } from "./registry.js";
import type { Section } from "./row.js";

/** Every behaviour in which specification, reference implementation and our server are not all the same. */
export const SECTIONS: readonly Section[] = [
  FRAME,
  CREDENTIALS,
  KEYS,
  LISTS,
  REGISTRY,
  GRANTS,
  EXECUTIONS,
];
