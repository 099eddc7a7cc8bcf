import { absentValues } from "./absent-values.js";
import { argumentEdges } from "./argument-edges.js";
import { pointers, presence } from "./argument-places.js";
import { arrays } from "./array-constraints.js";
import { base64Texts } from "./base64.js";
import { canonicalForm } from "./canonical.js";
import { capacity } from "./capacity.js";
import type { CheckSubject } from "./check-test.js";
import { scalars } from "./constraints.js";
import { delegation } from "./delegation.js";
import { dischargeGraphs } from "./discharge-graphs.js";
import { dischargeOrder } from "./discharge-order.js";
import { discharges } from "./discharges.js";
import { chains, propagation } from "./discovery-chains.js";
import { offeredGrants } from "./discovery-grants.js";
import { cards, misformed } from "./discovery-malformed.js";
import { olderCards } from "./discovery-older.js";
import { contradictions, ownFlags, places } from "./discovery-places.js";
import { registries, registryChanges } from "./discovery-registries.js";
import type { DiscoverySubject } from "./discovery-test.js";
import { deprecation, tiers, vendors } from "./discovery-tiers.js";
import { interfaces, versions, widening } from "./discovery-versions.js";
import { escalation } from "./escalation.js";
import { forgedChains } from "./forged.js";
import { grantMisuse, grantSteps } from "./grant-steps.js";
import { grants, knownGrants } from "./grants.js";
import { hopLimits } from "./hop-limits.js";
import { identifierLimits } from "./identifier-limits.js";
import { identifiers, keys } from "./identifiers.js";
import { jsonEncodings } from "./json-encodings.js";
import { jsonForms } from "./json-forms.js";
import { jsonMembers } from "./json-members.js";
import { jsonStarts } from "./json-starts.js";
import { knownAnswers } from "./known-answers.js";
import { lists } from "./lists.js";
import { macaroonLimits } from "./macaroon-limits.js";
import type { MacaroonSubject } from "./macaroon-test.js";
import { moments } from "./moments.js";
import { namesInOrder } from "./names-in-order.js";
import { olderCheckers } from "./older-checkers.js";
import { closedLists, operationEntries } from "./operation-entries.js";
import { order } from "./order.js";
import { pathEscapes, paths } from "./path-constraints.js";
import { ranges } from "./ranges.js";
import { revocationEntries } from "./revocation-entries.js";
import { revocationPlaces } from "./revocation-places.js";
import { revocations } from "./revocations.js";
import { serviceKeys } from "./service-keys.js";
import { sets } from "./sets.js";
import { signatures } from "./signatures.js";
import { thirdParty } from "./third-party.js";
import { thirdPartyOrder } from "./third-party-order.js";
import { thirdPartyRefused } from "./third-party-refused.js";
import { times } from "./times.js";
import { example, tokens } from "./tokens.js";
import { urlEscapes, urls } from "./url-constraints.js";
import { wireV1 } from "./wire-v1.js";
import { wireV1Packets } from "./wire-v1-packets.js";
import { wireV2 } from "./wire-v2.js";
import { wireV2Fields } from "./wire-v2-fields.js";

/** The definitions of `macaroon.json`, in order. Ids are assigned by position, so new definitions come at the end. */
export const MACAROON_SUBJECTS: readonly MacaroonSubject[] = [
  knownAnswers,
  signatures,
  forgedChains,
  wireV2,
  wireV2Fields,
  wireV1,
  wireV1Packets,
  jsonForms,
  jsonMembers,
  jsonEncodings,
  base64Texts,
  macaroonLimits,
  hopLimits,
  discharges,
  dischargeGraphs,
  identifierLimits,
  jsonStarts,
  dischargeOrder,
];

/** The definitions of `check.json`, in order. */
export const CHECK_SUBJECTS: readonly CheckSubject[] = [
  example,
  tokens,
  identifiers,
  keys,
  canonicalForm,
  sets,
  times,
  scalars,
  ranges,
  lists,
  delegation,
  escalation,
  revocations,
  revocationEntries,
  thirdParty,
  thirdPartyRefused,
  order,
  grants,
  knownGrants,
  grantSteps,
  grantMisuse,
  moments,
  capacity,
  revocationPlaces,
  namesInOrder,
  absentValues,
  thirdPartyOrder,
  serviceKeys,
  operationEntries,
  closedLists,
  pointers,
  presence,
  paths,
  pathEscapes,
  urls,
  urlEscapes,
  arrays,
  olderCheckers,
  argumentEdges,
];

/** The definitions of `capability-discovery.json`, in order. */
export const DISCOVERY_SUBJECTS: readonly DiscoverySubject[] = [
  tiers,
  vendors,
  deprecation,
  places,
  contradictions,
  ownFlags,
  cards,
  misformed,
  versions,
  widening,
  interfaces,
  olderCards,
  offeredGrants,
  chains,
  propagation,
  registries,
  registryChanges,
];
