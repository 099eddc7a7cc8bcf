import { ResourceHandles } from "../../src/agent/resources/resource-handles.js";
import type { ResourceNumbers } from "../../src/agent/resources/resource-numbers.js";
import type { MintedCapability, MintRequest } from "../../src/capability/mint.js";
import type { Issuer } from "../../src/issuer/issuer.js";

/** The parts with which an agent makes its handles. */
interface Parts {
  readonly issuer: Issuer;
  readonly resourceNumbers: ResourceNumbers;
}

/** Returns the handle of a resource for calls without a capability, as if a skill had returned it. */
export async function ambientHandle(
  { issuer, resourceNumbers }: Parts,
  principal: string,
  name: string,
): Promise<string> {
  const handles = new ResourceHandles(issuer, resourceNumbers);
  return (await handles.seal({ ambient: principal }, [name])).get(name) ?? "";
}

/** Mints a capability for one resource, without a request. */
export async function mintedFor(
  { issuer, resourceNumbers }: Parts,
  name: string,
  request: Omit<MintRequest, "resourceHandles">,
): Promise<MintedCapability & { readonly handle: string }> {
  const numbers = [...(await resourceNumbers.numbersOf([name])).values()];
  const { capability } = issuer.issue((draft) => ({
    ...request,
    resourceHandles: [...draft.handles(numbers).values()],
  }));
  return { ...capability, handle: capability.hop.resourceHandles?.[0] ?? "" };
}
