/** Declares the few parts of the library that tests use, since it has no types of its own. */
declare module 'oidc-provider' {
  import type { IncomingMessage, ServerResponse } from 'node:http';

  interface TokenContext {
    readonly oidc: { readonly params: Readonly<Record<string, string | undefined>> };
    body: unknown;
  }

  interface IdToken {
    scope: string;
    set(claim: string, value: unknown): void;
    issue(options: { use: 'idtoken'; expiresAt?: number }): Promise<string>;
  }

  export default class Provider {
    constructor(issuer: string, configuration: object);
    readonly IdToken: new (
      claims: object,
      parts: { ctx: TokenContext },
    ) => IdToken;
    readonly Grant: new (of: {
      clientId: string;
      accountId: string;
    }) => {
      addOIDCScope(scope: string): void;
      save(): Promise<string>;
    };
    interactionFinished(request: IncomingMessage, response: ServerResponse, result: object): Promise<void>;
    callback(): (request: IncomingMessage, response: ServerResponse) => void;
    registerGrantType(name: string, handler: (ctx: TokenContext) => Promise<void>, parameters: string[]): void;
  }
}
