import { IsIn, Min } from 'class-validator';
import { Check } from './check.js';
import { Flag } from './flag.js';

const hourMs = 3_600_000;
/** The lifetime that agents request for tokens mounted into pods. */
const mountedMs = 3607_000;
const maxExpirationMs = 2 ** 32 * 1000;
const signingAlgorithms = ['RS256', 'RS384', 'RS512', 'ES256', 'ES384', 'ES512', 'PS256', 'PS384', 'PS512'] as const;

/** A JWS algorithm that ID tokens may be signed with. */
export type OidcSigningAlgorithm = (typeof signingAlgorithms)[number];

type Siblings = Readonly<Record<string, unknown>>;

function httpsProblem(text: string): string | undefined {
  let url: URL;
  try {
    url = new URL(text);
  } catch {
    return 'must be a URL';
  }
  if (url.protocol !== 'https:') return 'must be an https URL';
  return url.username || url.password || url.hash || url.search
    ? 'must be an https URL without credentials, query or fragment'
    : undefined;
}

function issuersProblem(issuers: readonly string[]): string | undefined {
  if (issuers.some((issuer) => issuer === '')) return 'must not have an empty issuer';
  const bad = issuers.find((issuer) => issuer.includes(':') && !URL.canParse(issuer));
  if (bad !== undefined) return `has ${bad}, which has a colon but is not a URL`;
  return new Set(issuers).size === issuers.length ? undefined : 'names an issuer twice';
}

function maxExpirationProblem(ms: number, all: Siblings): string | undefined {
  if (ms === 0) return undefined;
  if (ms < hourMs || ms > maxExpirationMs) return 'must be 0 or between 1h and 2^32 seconds';
  if (all.serviceAccountExtendTokenExpiration === true && ms < mountedMs) {
    return 'must be at least 3607s while --service-account-extend-token-expiration is on';
  }
  return undefined;
}

function configurationProblem(_file: string, all: Siblings): string | undefined {
  return all.oidcIssuerUrl === undefined && all.oidcClientId === undefined
    ? undefined
    : 'names issuers itself: leave out the --oidc-* flags';
}

function needsOidc(value: unknown, all: Siblings): string | undefined {
  const isSet = Array.isArray(value) ? value.length > 0 : value !== undefined && value !== '';
  return isSet && all.oidcIssuerUrl === undefined ? 'needs --oidc-issuer-url as well' : undefined;
}

function requiredClaimsProblem(claims: readonly string[], all: Siblings): string | undefined {
  const bad = claims.find((claim) => !/^[^=]+=/.test(claim));
  return bad === undefined ? needsOidc(claims, all) : `has ${JSON.stringify(bad)}, which is not key=value`;
}

function algorithmsProblem(algorithms: readonly string[]): string | undefined {
  const bad = algorithms.find((algorithm) => !signingAlgorithms.some((known) => known === algorithm));
  if (bad !== undefined) return `names the unsupported algorithm ${bad}; choose from ${signingAlgorithms.join(', ')}`;
  return algorithms.length === 0 ? `needs at least one of ${signingAlgorithms.join(', ')}` : undefined;
}

/** Header fields that have another meaning in every request, so a proxy must not use them to name users. */
const reservedFields: readonly string[] = [
  'accept',
  'accept-encoding',
  'authorization',
  'connection',
  'content-encoding',
  'content-length',
  'content-type',
  'host',
  'impersonate-user',
  'transfer-encoding',
  'user-agent',
];
const fieldName = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;

function fieldNamesProblem(fields: readonly string[], all: Siblings): string | undefined {
  const bad = fields.find((field) => !fieldName.test(field));
  if (bad !== undefined) return `has ${JSON.stringify(bad)}, which is not a header name`;
  if (new Set(fields.map((field) => field.toLowerCase())).size < fields.length) return 'names a header twice';
  if (fields.some((field) => /^impersonate-/i.test(field) || reservedFields.includes(field.toLowerCase()))) {
    return 'names a header that has another meaning';
  }
  return needsProxyAuthority(fields, all);
}

function fieldPrefixesProblem(prefixes: readonly string[], all: Siblings): string | undefined {
  const taken = prefixes.find((prefix) => reservedFields.some((field) => field.startsWith(prefix.toLowerCase())));
  if (taken !== undefined) return `has ${JSON.stringify(taken)}, a prefix of headers that have another meaning`;
  return fieldNamesProblem(prefixes, all);
}

function needsProxyAuthority(list: readonly string[], all: Siblings): string | undefined {
  return list.length > 0 && all.requestheaderClientCaFile === undefined
    ? 'needs --requestheader-client-ca-file as well'
    : undefined;
}

function proxyAuthorityProblem(file: string, all: Siblings): string | undefined {
  const isEmpty = (list: unknown) => (list as readonly string[]).length === 0;
  if (isEmpty(all.requestheaderUsernameHeaders)) return 'needs --requestheader-username-headers as well';
  // Every user's certificate would be accepted as a proxy's, and every user could impersonate anybody.
  return file === all.clientCaFile && isEmpty(all.requestheaderAllowedNames)
    ? 'is the file of --client-ca-file and needs --requestheader-allowed-names as well'
    : undefined;
}

/** Versions of the review that a token webhook accepts. */
export type TokenWebhookVersion = 'v1' | 'v1beta1';

/** How requests are authenticated. */
export class AuthenticationOptions {
  @Flag({
    name: 'anonymous-auth',
    type: 'bool',
    usage: 'Requests that no other method identifies are system:anonymous. When false they are refused with 401.',
  })
  readonly anonymousAuth: boolean = true;

  @Flag({
    name: 'authentication-config',
    type: 'string',
    unit: 'file',
    usage:
      'Issuers of JSON web tokens, rules about their claims, and the paths for anonymous requests, of kind ' +
      'AuthenticationConfiguration. Takes the place of the --oidc-* flags. Read again when it changes.',
  })
  @Check('configuration', configurationProblem)
  readonly authenticationConfig: string | undefined = undefined;

  @Flag({
    name: 'client-ca-file',
    type: 'string',
    unit: 'file',
    usage:
      'CA certificates in PEM: client certificates signed by one of them are accepted (CN is user, O are groups). ' +
      'Read again when it changes.',
  })
  readonly clientCaFile: string | undefined = undefined;

  @Flag({
    name: 'client-crl-file',
    type: 'string',
    unit: 'file',
    usage:
      'Revocation lists of client certificates, in PEM (several) or DER (one), each signed by an authority of ' +
      '--client-ca-file or --requestheader-client-ca-file, or by an authority that is in this file and signed ' +
      'by one of those. Read again when it changes.',
  })
  @Check<string>('revocations', (_file, all) =>
    all.clientCaFile === undefined && all.requestheaderClientCaFile === undefined
      ? 'needs --client-ca-file as well'
      : undefined,
  )
  readonly clientCrlFile: string | undefined = undefined;

  @Flag({
    name: 'client-crl-expired-policy',
    type: 'string',
    values: ['Refuse', 'Use'],
    usage:
      'How to treat client certificates whose revocation list is past its next update: Refuse refuses all of ' +
      'them, Use continues with the list as it is.',
  })
  @IsIn(['Refuse', 'Use'], { message: 'must be Refuse or Use' })
  readonly clientCrlExpiredPolicy: 'Refuse' | 'Use' = 'Refuse';

  @Flag({
    name: 'token-auth-file',
    type: 'string',
    unit: 'file',
    usage: 'CSV file of bearer tokens: token,user,uid,"group1,group2". Changes need a restart.',
  })
  readonly tokenAuthFile: string | undefined = undefined;

  @Flag({
    name: 'api-audiences',
    type: 'list',
    unit: 'names',
    usage: 'Audiences of this server: tokens for one of them are accepted. Default: the service account issuers.',
  })
  readonly apiAudiences: readonly string[] = [];

  @Flag({
    name: 'service-account-key-file',
    type: 'list',
    unit: 'files',
    usage:
      'PEM files of public or private keys (RSA, ECDSA) that service account tokens are checked with; repeatable. ' +
      'Default: the key of the serving certificate, and the signing key when there is one.',
  })
  readonly serviceAccountKeyFile: readonly string[] = [];

  @Flag({
    name: 'service-account-signing-key-file',
    type: 'string',
    unit: 'file',
    usage: 'Private key in PEM that signs service account tokens. Without it clients can request none.',
  })
  readonly serviceAccountSigningKeyFile: string | undefined = undefined;

  @Flag({
    name: 'service-account-issuer',
    type: 'list',
    unit: 'urls',
    usage: 'Accepted issuers of service account tokens; repeatable, the first one is that of new tokens.',
  })
  @Check('issuers', issuersProblem)
  readonly serviceAccountIssuer: readonly string[] = [];

  @Flag({
    name: 'service-account-jwks-uri',
    type: 'string',
    unit: 'url',
    usage: 'Where other parties find the keys, for the discovery document. Default: this server.',
  })
  @Check('httpsUrl', httpsProblem)
  readonly serviceAccountJwksUri: string | undefined = undefined;

  @Flag({
    name: 'service-account-lookup',
    type: 'bool',
    usage: 'Tokens kept in secrets become invalid with their secret and account. Requested tokens always do.',
  })
  readonly serviceAccountLookup: boolean = true;

  @Flag({
    name: 'service-account-max-token-expiration',
    type: 'duration',
    usage: 'Longest life of a service account token; longer requests are shortened. 0: no limit.',
  })
  @Check('maxExpiration', maxExpirationProblem)
  readonly serviceAccountMaxTokenExpiration: number = 0;

  @Flag({
    name: 'service-account-extend-token-expiration',
    type: 'bool',
    usage: 'Tokens mounted into pods live up to a year, for clients that never reread them; late uses are recorded.',
  })
  readonly serviceAccountExtendTokenExpiration: boolean = true;

  @Flag({
    name: 'oidc-issuer-url',
    type: 'string',
    unit: 'url',
    usage: 'OpenID Connect issuer whose ID tokens are accepted; https only, without the .well-known path.',
  })
  @Check<string>('oidcIssuer', (text, all) =>
    all.oidcClientId === undefined ? 'needs --oidc-client-id as well' : httpsProblem(text),
  )
  readonly oidcIssuerUrl: string | undefined = undefined;

  @Flag({ name: 'oidc-client-id', type: 'string', usage: 'Client that all ID tokens have to be issued for.' })
  @Check('needsOidc', needsOidc)
  readonly oidcClientId: string | undefined = undefined;

  @Flag({
    name: 'oidc-username-claim',
    type: 'string',
    usage:
      'Claim that is the user name. Names from claims other than email are prefixed with the issuer unless a prefix is set.',
  })
  readonly oidcUsernameClaim: string = 'sub';

  @Flag({
    name: 'oidc-username-prefix',
    type: 'string',
    usage: 'Put in front of user names; "-" for no prefix at all.',
  })
  readonly oidcUsernamePrefix: string | undefined = undefined;

  @Flag({
    name: 'oidc-groups-claim',
    type: 'string',
    usage: 'Claim with the groups: a string or a list of strings.',
  })
  @Check('needsOidc', needsOidc)
  readonly oidcGroupsClaim: string | undefined = undefined;

  @Flag({ name: 'oidc-groups-prefix', type: 'string', usage: 'Put in front of groups.' })
  readonly oidcGroupsPrefix: string = '';

  @Flag({
    name: 'oidc-required-claim',
    type: 'list',
    unit: 'key=value',
    usage: 'Claim that ID tokens must have with this value; repeatable, all are needed.',
  })
  @Check('requiredClaims', requiredClaimsProblem)
  readonly oidcRequiredClaim: readonly string[] = [];

  @Flag({
    name: 'oidc-ca-file',
    type: 'string',
    unit: 'file',
    usage: "CA certificates in PEM for the issuer's own certificate. Default: those of the host.",
  })
  readonly oidcCaFile: string | undefined = undefined;

  @Flag({
    name: 'oidc-signing-algs',
    type: 'list',
    values: signingAlgorithms,
    unit: 'names',
    usage: `Accepted signatures of ID tokens, of ${signingAlgorithms.join(', ')}.`,
  })
  @Check('algorithms', algorithmsProblem)
  readonly oidcSigningAlgs: readonly OidcSigningAlgorithm[] = ['RS256'];

  @Flag({
    name: 'enable-bootstrap-token-auth',
    type: 'bool',
    usage: 'Accepts tokens of bootstrap secrets in the system namespace, with which new nodes join.',
  })
  readonly enableBootstrapTokenAuth: boolean = false;

  @Flag({
    name: 'max-failed-bootstrap-tokens-per-address',
    type: 'int',
    unit: 'per second',
    usage:
      'Wrong bootstrap tokens of one client address, per second and process; ten seconds of them may come at once. Then ' +
      'bootstrap tokens of that address get 429 for a while, and other credentials go on. 0: no limit.',
  })
  @Min(0, { message: 'must not be negative' })
  readonly maxFailedBootstrapTokensPerAddress: number = 5;

  @Flag({
    name: 'authentication-token-webhook-config-file',
    type: 'string',
    unit: 'file',
    usage: 'Client configuration of a server that checks bearer tokens (TokenReview).',
  })
  readonly authenticationTokenWebhookConfigFile: string | undefined = undefined;

  @Flag({
    name: 'authentication-token-webhook-version',
    type: 'string',
    values: ['v1', 'v1beta1'],
    usage: 'Version of the TokenReview that the webhook is sent: v1 or v1beta1.',
  })
  @IsIn(['v1', 'v1beta1'])
  readonly authenticationTokenWebhookVersion: TokenWebhookVersion = 'v1beta1';

  @Flag({
    name: 'authentication-token-webhook-cache-ttl',
    type: 'duration',
    usage: "How long the webhook's answers are kept.",
  })
  @Min(0)
  readonly authenticationTokenWebhookCacheTtl: number = 120_000;

  @Flag({
    name: 'requestheader-client-ca-file',
    type: 'string',
    unit: 'file',
    usage:
      'CA certificates in PEM: a proxy with a client certificate signed by one of them may name the user of a ' +
      'request. Must differ from the CA of --client-ca-file. Read again when it changes.',
  })
  @Check('proxyAuthority', proxyAuthorityProblem)
  readonly requestheaderClientCaFile: string | undefined = undefined;

  @Flag({
    name: 'requestheader-allowed-names',
    type: 'list',
    unit: 'names',
    usage: 'Common names of proxies. Default: every certificate of their CA.',
  })
  @Check('needsProxyAuthority', needsProxyAuthority)
  readonly requestheaderAllowedNames: readonly string[] = [];

  @Flag({
    name: 'requestheader-username-headers',
    type: 'list',
    unit: 'names',
    usage: 'Headers in which a proxy sends the user name, such as X-Remote-User; the first with a value counts.',
  })
  @Check('fieldNames', fieldNamesProblem)
  readonly requestheaderUsernameHeaders: readonly string[] = [];

  @Flag({
    name: 'requestheader-uid-headers',
    type: 'list',
    unit: 'names',
    usage: "Headers in which a proxy sends the user's uid, such as X-Remote-Uid.",
  })
  @Check('fieldNames', fieldNamesProblem)
  readonly requestheaderUidHeaders: readonly string[] = [];

  @Flag({
    name: 'requestheader-group-headers',
    type: 'list',
    unit: 'names',
    usage: 'Headers in which a proxy sends groups, such as X-Remote-Group; repeated for each group.',
  })
  @Check('fieldNames', fieldNamesProblem)
  readonly requestheaderGroupHeaders: readonly string[] = [];

  @Flag({
    name: 'requestheader-extra-headers-prefix',
    type: 'list',
    unit: 'names',
    usage: 'Prefixes of headers in which a proxy sends extra fields of the user, such as X-Remote-Extra-.',
  })
  @Check('fieldPrefixes', fieldPrefixesProblem)
  readonly requestheaderExtraHeadersPrefix: readonly string[] = [];
}
