import assert from 'node:assert/strict';
import crypto from 'node:crypto';
import { syncBuiltinESMExports } from 'node:module';
import { after, before, beforeEach, describe, it } from 'node:test';
import { systemClock } from '../../src/base/machinery/clock.js';
import { vendorNames } from '../../src/base/machinery/vendor.js';
import { ResourceRegistry } from '../../src/objects/registry/resource-registry.js';
import { TokenFileAuthenticator } from '../../src/server/authentication/bearer-token/token-file.authenticator.js';
import { BootstrapTokenAuthenticator } from '../../src/server/authentication/bootstrap-token/bootstrap-token.authenticator.js';

/*
 * Times of answers are too noisy for judging a comparison. Instead this shows that secrets are compared by the function
 * that takes equally long for every input of a length, over digests, which all have one length, and equally often for a
 * token that fits and one that does not.
 */

const real = crypto.timingSafeEqual;
/** Lengths of the compared inputs, in order. */
let compared: number[] = [];

before(() => {
  crypto.timingSafeEqual = (a, b) => {
    compared.push(a.byteLength);
    return real(a, b);
  };
  syncBuiltinESMExports();
});
beforeEach(() => {
  compared = [];
});
after(() => {
  crypto.timingSafeEqual = real;
  syncBuiltinESMExports();
});

describe('the comparison of tokens', () => {
  it('of the token file goes through all of them, as digests, whichever fits', () => {
    const lines = ['first,a,1', 'a-much-longer-token-in-the-middle,b,2', 'last,c,3'];
    const method = TokenFileAuthenticator.fromText(lines.join('\n'));
    for (const token of [
      'first',
      'last',
      'a-much-longer-token-in-the-middle',
      'f',
      'firs',
      'none',
      'x'.repeat(5000),
      '',
    ]) {
      compared = [];
      method.authenticateToken(token, []);
      assert.deepEqual(compared, [32, 32, 32], token.slice(0, 20));
    }
  });

  it('of bootstrap tokens is one of digests', async () => {
    const names = vendorNames('k8s.io');
    const data = (text: string) => Buffer.from(text).toString('base64');
    const secret = {
      metadata: { name: 'bootstrap-token-abcdef', namespace: names.systemNamespace },
      type: 'bootstrap.k8s.io/token',
      data: {
        'token-id': data('abcdef'),
        'token-secret': data('0123456789abcdef'),
        'usage-bootstrap-authentication': data('true'),
      },
    };
    const stored = { key: { resource: 'secrets' }, json: JSON.stringify(secret) } as never;
    const storage = { get: async () => stored };
    const logger = { debug: () => undefined };
    const method = new BootstrapTokenAuthenticator(
      { names, clock: systemClock, storage, registry: new ResourceRegistry(), logger },
      [],
    );
    for (const [token, kind] of [
      ['abcdef.0123456789abcdef', 'user'],
      ['abcdef.0123456789abcdee', 'none'],
      ['abcdef.zzzzzzzzzzzzzzzz', 'none'],
    ] as const) {
      compared = [];
      const result = await method.authenticateToken(token, []);
      assert.equal(result.kind, kind, token);
      assert.deepEqual(compared, [32], token);
    }
  });
});
