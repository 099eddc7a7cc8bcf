import type { Scenario } from "../scenario.js";
import { promptInfection, sessionSmuggling, workspace } from "./between.js";
import { confusedDeputy, excessiveAgency, subagents, toolMisuse } from "./doing.js";
import { delayed, downgrade, identitySpoofing, tokenForgery } from "./pretending.js";
import { calendarInvite, echoLeak, indirectInjection, toolPoisoning } from "./reading.js";

/** All scenarios, in the order of the table. */
export const SCENARIOS: readonly Scenario[] = [
  indirectInjection,
  echoLeak,
  calendarInvite,
  toolPoisoning,
  confusedDeputy,
  excessiveAgency,
  toolMisuse,
  workspace,
  promptInfection,
  sessionSmuggling,
  subagents,
  identitySpoofing,
  tokenForgery,
  delayed,
  downgrade,
];
