// The skills of the documents agent. Before a skill runs, the gate has checked the token, the arguments and
// every handle.
import { readingSkills } from "./reading-skills.mjs";
import { writingSkills } from "./writing-skills.mjs";

/** @type {typeof import("./skills.mjs").documentSkills} */
export function documentSkills({ folder }) {
  return [...readingSkills({ folder }), ...writingSkills({ folder })];
}
