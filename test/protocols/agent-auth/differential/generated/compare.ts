import type { Random } from "../../../../fuzz/random.js";
import { type Difference, differencesOf, type Observation, observed } from "../observation.js";
import { type Answer, send } from "../party.js";
import type { AgentAuthServer } from "../server.js";
import { drawRequest, type GeneratedRequest } from "./requests.js";
import { createWorld, type World } from "./world.js";

/** After this many requests, the test continues with new parties, since agents and pending requests accumulate. */
const REQUESTS_A_WORLD = 150;

/**
 * Sends the same generated requests to two servers, and returns the differences between the answers. If a request
 * changed the state of only one server, both servers continue with new parties.
 */
export async function compareGenerated(
  random: Random,
  requests: number,
  reference: AgentAuthServer,
  ours: AgentAuthServer,
): Promise<Difference[]> {
  const differences: Difference[] = [];
  let worlds: readonly [World, World] | undefined;
  let age = 0;
  for (let count = 0; count < requests; count++) {
    if (worlds === undefined || age++ === REQUESTS_A_WORLD) {
      worlds = await Promise.all([createWorld(reference), createWorld(ours)]);
      age = 0;
    }
    const request = drawRequest(random);
    const [theirs, our] = await Promise.all(worlds.map((world) => answerTo(request, world)));
    if (theirs === undefined || our === undefined) throw new TypeError("there are two worlds");
    differences.push(...differencesOf(theirs, our));
    if (request.changes && stateOf(theirs) !== stateOf(our)) worlds = undefined;
  }
  return differences;
}

async function answerTo(request: GeneratedRequest, world: World): Promise<Observation> {
  const { path, sending } = await request.make(world);
  const answer: Answer = await send(world.server, request.method, path, sending);
  return observed(`generated: ${request.about}`, answer, world.server.issuer);
}

/** Returns the parts of an answer that show the state of the server after the request. */
function stateOf({ outcome, shape }: Observation): string {
  const statuses = [...shape].filter(([path]) => path.endsWith("status") || path === "revoked");
  return JSON.stringify([outcome.startsWith("2"), statuses.sort()]);
}
