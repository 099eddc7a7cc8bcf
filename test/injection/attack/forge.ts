import { SERVICES } from "../world/people.js";
import type { Attacker } from "./attacker.js";
import { forgeries } from "./surgery.js";
import { argumentSets, takesHandle } from "./sweep.js";

/** Number of tokens of each agent that are forged. */
const MOST_TOKENS = 1;
const MOST_TOKENS_IN_ALL = 2;

/** One operation for each kind of skill. A forgery is never refused because of its operation. */
const TRIED: ReadonlySet<string> = new Set(["read", "send", "run"]);

/** Forges the known tokens in every way, and tries each forgery with every skill. */
export async function forge(attacker: Attacker): Promise<void> {
  const { knowledge } = attacker;
  const tokens = SERVICES.flatMap((service) => knowledge.tokensOf(service).slice(0, MOST_TOKENS));
  for (const { text, service: issuer, handles } of tokens.slice(0, MOST_TOKENS_IN_ALL)) {
    const service = SERVICES.find((name) => name === issuer);
    if (service === undefined) continue;
    const leaked = attacker.leaks.handles.find((one) => one.service === service);
    const own = knowledge.handlesOf(service).filter((handle) => handles.includes(handle));
    const aims = [...own.slice(0, 1), ...(leaked === undefined ? [] : [leaked.value])];
    const other = knowledge.tokens.find((one) => one.text !== text)?.text;
    for (const { kind, token } of forgeries(text, aims, other)) {
      for (const skill of attacker
        .skills(service)
        .filter(({ operation }) => TRIED.has(operation))) {
        for (const handle of takesHandle(skill) ? aims : [undefined]) {
          const [given = {}] = argumentSets(skill, handle);
          await attacker.call(kind, service, skill.id, given, [{ token }]);
        }
      }
    }
  }
}
