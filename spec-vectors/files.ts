import { checkFile } from "./build/check-file.js";
import { discoveryFile } from "./build/discovery-file.js";
import { format } from "./build/format.js";
import { macaroonFile } from "./build/macaroon-file.js";
import { CHECK_SUBJECTS, DISCOVERY_SUBJECTS, MACAROON_SUBJECTS } from "./definitions/index.js";

/** Returns the name and the text of every generated file. */
export function vectorFiles(): readonly (readonly [name: string, text: string])[] {
  return [
    ["macaroon.json", format(macaroonFile(MACAROON_SUBJECTS))],
    ["check.json", format(checkFile(CHECK_SUBJECTS))],
    ["capability-discovery.json", format(discoveryFile(DISCOVERY_SUBJECTS))],
  ];
}
