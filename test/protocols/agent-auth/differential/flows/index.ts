import { FULL } from "../../../../support/size.js";
import { BODIES } from "./bodies.js";
import { CREDENTIALS } from "./credentials.js";
import { ENDINGS } from "./endings.js";
import { EXECUTION } from "./execution.js";
import type { Flow } from "./flow.js";
import { JWTS } from "./jwts.js";
import { LISTING } from "./listing.js";
import { REGISTRATION } from "./registration.js";
import { REQUESTS } from "./requests.js";

/** What hosts, agents and users do with each other. */
const LIFE = [...REGISTRATION, ...REQUESTS, ...EXECUTION, ...ENDINGS];

/** The flows of the differential test, every one in a full run; each begins with parties of its own. */
export const FLOWS: readonly Flow[] = FULL
  ? [...LISTING, ...LIFE, ...CREDENTIALS, ...JWTS, ...BODIES]
  : LIFE;
