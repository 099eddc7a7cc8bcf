import { membersOf, type Outline } from "./places.js";

/** What callers name the history of a conversation that they bring, apart from case, "-" and "_". */
const NAMES: ReadonlySet<string> = new Set([
  ...["history", "messages", "messagehistory", "conversationhistory"],
]);

/**
 * What is wrong with a message that brings its own history, which an agent has to declare
 * (`message_history_injection`): the SDK passes over it in silence, and its caller relies on it.
 */
export function historyIn({ places, inMessage, params }: Outline): string | undefined {
  if (places.message !== true && inMessage === undefined) return undefined;
  const owners = [
    { where: "params", value: params },
    { where: "params.message", value: membersOf(params["message"]) },
    { where: "params.configuration", value: membersOf(params["configuration"]) },
  ];
  for (const { where, value } of owners) {
    const name = Object.keys(value).find((one) => isHistory(one) && value[one] !== null);
    if (name === undefined) continue;
    return `this agent takes no history from its callers, and its card declares none: leave ${where}.${name} out`;
  }
  return undefined;
}

function isHistory(name: string): boolean {
  return NAMES.has(name.toLowerCase().replace(/[-_]/g, ""));
}
