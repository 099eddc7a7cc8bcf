/** The parts of oidc-provider that the tests use; oidc-provider has no types of its own. */
declare module "oidc-provider" {
  import type { IncomingMessage, ServerResponse } from "node:http";

  interface Client {
    readonly clientId: string;
  }

  interface Grant {
    addOIDCScope(scope: string): void;
    addResourceScope(resource: string, scope: string): void;
    save(): Promise<string>;
  }

  interface Context {
    readonly oidc: {
      readonly client: Client;
      readonly session: { readonly accountId: string };
    };
  }

  interface Configuration {
    readonly clients: readonly Readonly<Record<string, unknown>>[];
    readonly jwks: { readonly keys: readonly object[] };
    readonly [setting: string]: unknown;
  }

  export class Provider {
    constructor(issuer: string, configuration: Configuration);
    readonly Grant: new (properties: {
      accountId: string;
      clientId: string;
    }) => Grant;
    callback(): (request: IncomingMessage, response: ServerResponse) => Promise<void>;
    interactionFinished(
      request: IncomingMessage,
      response: ServerResponse,
      result: { readonly login: { readonly accountId: string } },
    ): Promise<void>;
  }
}
