import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { AuthenticationOptions } from './authentication.options.js';
import { OptionsError } from './options-error.js';
import { parseOptions } from './parse-options.js';

function parse(...argv: string[]) {
  return parseOptions({ groups: { authentication: AuthenticationOptions }, argv, environment: {} }).authentication;
}

function problemsOf(...argv: string[]): readonly string[] {
  try {
    parse(...argv);
  } catch (error) {
    assert.ok(error instanceof OptionsError);
    return error.problems;
  }
  return [];
}

const oidc = ['--oidc-issuer-url=https://id.example.com', '--oidc-client-id=plinth'];

const proxy = ['--requestheader-client-ca-file=p.pem', '--requestheader-username-headers=X-Remote-User'];

describe('AuthenticationOptions', () => {
  it('has the defaults of the specification', () => {
    const options = parse();
    assert.equal(options.serviceAccountLookup, true);
    assert.equal(options.serviceAccountExtendTokenExpiration, true);
    assert.equal(options.oidcUsernameClaim, 'sub');
    assert.deepEqual(options.oidcSigningAlgs, ['RS256']);
  });

  it('takes lists of keys, issuers and claims', () => {
    const options = parse(
      '--service-account-key-file=a.pem',
      '--service-account-key-file=b.pem',
      '--service-account-issuer=https://one.example.com',
      '--service-account-issuer=https://two.example.com',
      ...oidc,
      '--oidc-required-claim=a=1',
      '--oidc-required-claim=b=x=y',
      '--oidc-signing-algs=RS256,ES512',
    );
    assert.deepEqual(options.serviceAccountKeyFile, ['a.pem', 'b.pem']);
    assert.deepEqual(options.serviceAccountIssuer, ['https://one.example.com', 'https://two.example.com']);
    assert.deepEqual(options.oidcRequiredClaim, ['a=1', 'b=x=y']);
  });

  it('asks the webhook in the version and for as long as the specification says', () => {
    const options = parse(...proxy, '--requestheader-group-headers=X-Remote-Group,X-Team');
    assert.equal(options.authenticationTokenWebhookVersion, 'v1beta1');
    assert.equal(options.authenticationTokenWebhookCacheTtl, 120_000);
    assert.equal(options.enableBootstrapTokenAuth, false);
    assert.deepEqual(options.requestheaderGroupHeaders, ['X-Remote-Group', 'X-Team']);
  });

  for (const [what, argv, problem] of [
    ['a review of another version', ['--authentication-token-webhook-version=v2'], /v1beta1/],
    ['answers from the past', ['--authentication-token-webhook-cache-ttl=-1s'], /webhook-cache-ttl/],
    ['a proxy without headers', proxy.slice(0, 1), /needs --requestheader-username-headers/],
    ['headers without a proxy', proxy.slice(1), /needs --requestheader-client-ca-file/],
    ['names without a proxy', ['--requestheader-allowed-names=a'], /needs --requestheader-client-ca-file/],
    ['a header of HTTP/2', [...proxy, '--requestheader-group-headers=:path'], /is not a header name/],
    ['a header twice', [...proxy, '--requestheader-group-headers=X-A,x-a'], /names a header twice/],
    ['a header for something else', [...proxy, '--requestheader-uid-headers=Authorization'], /another meaning/],
    ['impersonation by a proxy', [...proxy, '--requestheader-uid-headers=Impersonate-Uid'], /another meaning/],
    ['a prefix of too much', [...proxy, '--requestheader-extra-headers-prefix=A'], /headers that have another meaning/],
    ['users that are proxies', [...proxy, '--client-ca-file=p.pem'], /needs --requestheader-allowed-names/],
    ['an issuer over http', ['--oidc-issuer-url=http://id.example.com', '--oidc-client-id=c'], /must be an https URL/],
    ['an issuer that is no URL', ['--oidc-issuer-url=id', '--oidc-client-id=c'], /must be a URL/],
    ['an issuer with a query', ['--oidc-issuer-url=https://a?b', '--oidc-client-id=c'], /without credentials, query/],
    ['an issuer without a client', ['--oidc-issuer-url=https://a'], /needs --oidc-client-id/],
    ['a client without an issuer', ['--oidc-client-id=c'], /needs --oidc-issuer-url/],
    ['groups without an issuer', ['--oidc-groups-claim=g'], /needs --oidc-issuer-url/],
    ['a required claim without a value', [...oidc, '--oidc-required-claim=a'], /is not key=value/],
    ['a shared-secret algorithm', [...oidc, '--oidc-signing-algs=HS256'], /names the unsupported algorithm HS256/],
    ['no algorithm', [...oidc, '--oidc-signing-algs='], /needs at least one of RS256/],
    ['an issuer twice', ['--service-account-issuer=a,a'], /names an issuer twice/],
    ['an issuer that only looks like a URL', ['--service-account-issuer=a:// b'], /is not a URL/],
    ['tokens shorter than an hour', ['--service-account-max-token-expiration=59m'], /must be 0 or between 1h/],
    ['tokens shorter than mounted ones', ['--service-account-max-token-expiration=1h'], /must be at least 3607s/],
    ['keys over http', ['--service-account-jwks-uri=http://a'], /must be an https URL/],
  ] as const) {
    it(`refuses ${what}`, () => {
      assert.match(problemsOf(...argv).join('\n'), problem);
    });
  }

  it('allows an hour when mounted tokens are not extended', () => {
    const argv = ['--service-account-max-token-expiration=1h', '--service-account-extend-token-expiration=false'];
    assert.deepEqual(problemsOf(...argv), []);
  });
});
