import { BODIES } from "./bodies.js";
import { CREDENTIALS } from "./credentials.js";
import { ENDINGS } from "./endings.js";
import { EXECUTION } from "./execution.js";
import type { Flow } from "./flow.js";
import { JWTS } from "./jwts.js";
import { LISTING } from "./listing.js";
import { REGISTRATION } from "./registration.js";
import { REQUESTS } from "./requests.js";

/** The flows of the differential test. Each flow begins with new parties. */
export const FLOWS: readonly Flow[] = [
  ...LISTING,
  ...REGISTRATION,
  ...REQUESTS,
  ...EXECUTION,
  ...ENDINGS,
  ...CREDENTIALS,
  ...JWTS,
  ...BODIES,
];
