import { ResourceHandles } from "../../src/agent/resources/resource-handles.js";
import type { ResourceNumbers } from "../../src/agent/resources/resource-numbers.js";
import type { MintedCapability, MintRequest } from "../../src/capability/mint.js";
import type { Issuer } from "../../src/issuer/issuer.js";

/** What an agent makes its handles with. */
interface Parts {
  readonly issuer: Issuer;
  readonly resourceNumbers: ResourceNumbers;
}

/** The handle of a resource for calls that present nothing, as if a skill had given it. */
export async function ambientHandle(
  { issuer, resourceNumbers }: Parts,
  principal: string,
  name: string,
): Promise<string> {
  const handles = new ResourceHandles(issuer, resourceNumbers);
  return (await handles.seal({ ambient: principal }, [name])).get(name) ?? "";
}

/** A capability that no request led to, for one resource. */
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
