import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { defaultFeatureGates } from '../../../base/config/feature-gates.js';
import type { RequestContext } from '../../../base/machinery/request-context.js';
import { vendorNames } from '../../../base/machinery/vendor.js';
import { ContinueTokens } from './continue-tokens.js';
import { parseListOptions } from './list-options.js';
import { checkListRules, checkWatchRules } from './list-rules.js';

const tokens = new ContinueTokens(Buffer.alloc(32, 1));
const list = { namespace: 'a', namespaced: true };

const services = { continueTokens: tokens, features: defaultFeatureGates, names: vendorNames('example.dev') };

function parse(query: string) {
  const context = { query: new URLSearchParams(query) } as RequestContext;
  checkListRules(context.query, services.names);
  const { limit, semantics } = parseListOptions(context, services, list);
  return { limit, ...semantics };
}

describe('parseListOptions', () => {
  const after = { namespace: 'a', name: 'b' };
  const token = tokens.encode(list, { version: 7n, after });

  it('follows the table of resource version semantics', () => {
    assert.deepEqual(parse(''), { limit: 0, kind: 'mostRecent' });
    assert.deepEqual(parse('resourceVersion=0'), { limit: 0, kind: 'notOlderThan', version: 0n });
    assert.deepEqual(parse('resourceVersion=0&limit=3'), { limit: 3, kind: 'notOlderThan', version: 0n });
    assert.deepEqual(parse('resourceVersion=5'), { limit: 0, kind: 'notOlderThan', version: 5n });
    assert.deepEqual(parse('resourceVersion=5&limit=2'), { limit: 2, kind: 'exact', version: 5n });
    const largest = { limit: 1, kind: 'exact', version: 9223372036854775807n };
    assert.deepEqual(parse('resourceVersion=9223372036854775807&limit=1'), largest);
    const exact = 'resourceVersion=5&resourceVersionMatch=Exact';
    assert.deepEqual(parse(exact), { limit: 0, kind: 'exact', version: 5n });
    const notOlder = 'resourceVersion=5&resourceVersionMatch=NotOlderThan&limit=3';
    assert.deepEqual(parse(notOlder), { limit: 3, kind: 'notOlderThan', version: 5n });
    assert.deepEqual(parse(`limit=1&continue=${token}`), { limit: 1, kind: 'continue', version: 7n, after });
    assert.deepEqual(parse(`continue=${token}&resourceVersion=0`), { limit: 0, kind: 'continue', version: 7n, after });
    assert.deepEqual(parse('limit=-1'), { limit: 0, kind: 'mostRecent' });
  });

  it('takes every limit of 64 bits', () => {
    assert.equal(parse('limit=9223372036854775807').limit, 999_999_999_999_999);
    assert.equal(parse('limit=%2B00000000000000000000000000000005').limit, 5);
    assert.equal(parse('limit=-9223372036854775808').limit, 0);
  });

  it('reads a token as the same place in a list of another scope', () => {
    const read = (from: object, to: object, name: string) => {
      const made = tokens.encode({ ...list, ...from }, { version: 7n, after: { namespace: 'a', name } });
      return tokens.decode({ ...list, ...to }, made).after;
    };
    const all = { namespace: '' };
    assert.deepEqual(read(all, all, 'b'), { namespace: 'a', name: 'b' });
    assert.deepEqual(read({}, { namespace: 'other' }, 'b'), { namespace: 'other', name: 'b' });
    assert.deepEqual(read(all, { namespace: 'other' }, 'b'), { namespace: 'other', name: 'a/b' });
    assert.deepEqual(read({}, all, 'b'), { namespace: 'b', name: '' });
    assert.deepEqual(read({}, { namespace: '', namespaced: false }, 'b'), { namespace: '', name: 'b' });
  });

  it('answers 410 to a token of an earlier release', () => {
    const text = Buffer.from('{"v":"p2","rv":"7","ns":"a","name":"b"}');
    const old = Buffer.concat([Buffer.alloc(16, 3), text]).toString('base64url');
    assert.throws(() => parse(`continue=${old}`), { code: 410, reason: 'Expired' });
  });

  const foreign = (body: object | null) => Buffer.from(JSON.stringify(body)).toString('base64url');
  const messages: [string, string][] = [
    ['x', 'illegal base64 data at input byte 0'],
    ['abcde', 'illegal base64 data at input byte 4'],
    ['abc.def', 'illegal base64 data at input byte 3'],
    ['YWJjZA==', 'illegal base64 data at input byte 6'],
    ['YWJj', "invalid character 'a' looking for beginning of value"],
    [foreign(null), 'server does not recognize this encoded version '],
    [foreign({ v: 'x' }), 'server does not recognize this encoded version x'],
    [foreign([1]), 'json: cannot unmarshal array into Go value of type storage.continueToken'],
    [
      foreign({ v: { toString: null, valueOf: null } }),
      'json: cannot unmarshal object into Go struct field continueToken.v of type string',
    ],
    [
      Buffer.from(`{"v":${'['.repeat(20_000)}${']'.repeat(20_000)}}`).toString('base64url'),
      'json: cannot unmarshal array into Go struct field continueToken.v of type string',
    ],
    [
      foreign({ v: 'meta.k8s.io/v1', rv: '5' }),
      'json: cannot unmarshal string into Go struct field continueToken.rv of type int64',
    ],
    [foreign({ v: 'meta.k8s.io/v1', rv: 0 }), 'incorrect encoded start resourceVersion (version meta.k8s.io/v1)'],
    [foreign({ v: 'meta.k8s.io/v1', rv: 5, start: 'a' }), 'it was not given out by this server'],
  ];
  for (const [foreignToken, detail] of messages) {
    it(`says what is wrong with the token ${foreignToken.slice(0, 100)}`, () => {
      const message = `invalid continue token: continue key is not valid: ${detail}`;
      assert.throws(() => parse(`continue=${encodeURIComponent(foreignToken)}`), { code: 400, message });
    });
  }

  it('reads any number of zeros as zero', () => {
    assert.deepEqual(parse('resourceVersion=00'), parse('resourceVersion=0'));
  });

  const faults: [string, number][] = [
    [`continue=${token}&resourceVersion=5`, 400],
    ['continue=notbase64!!', 400],
    ['continue=aGVsbG8', 400],
    [`continue=${token.slice(0, -2)}AA`, 400],
    [`continue=${token.slice(0, 12)}`, 400],
    [`continue=${new ContinueTokens(Buffer.alloc(32, 2)).encode(list, { version: 7n, after })}`, 400],
    ['limit=ten', 400],
    ['limit=', 400],
    ['limit=9223372036854775808', 400],
    ['limit=-9223372036854775809', 400],
    [`limit=${'9'.repeat(60_000)}`, 400],
    ['limit=1e3', 400],
    ['resourceVersion=x1', 400],
    // Larger than any version of the database.
    ['resourceVersion=9223372036854775808&limit=1', 400],
    ['resourceVersion=9999999999999999999', 400],
    ['resourceVersionMatch=Exact', 400],
    ['resourceVersionMatch=Bogus&resourceVersion=1', 422],
    ['resourceVersionMatch=Bogus', 400],
    ['resourceVersionMatch=Exact&resourceVersion=0', 400],
    ['sendInitialEvents=true', 422],
    ['sendInitialEvents=false&resourceVersion=1&resourceVersionMatch=NotOlderThan', 422],
    ['sendInitialEvents=true&resourceVersionMatch=NotOlderThan', 400],
    [`resourceVersionMatch=Exact&resourceVersion=1&continue=${token}`, 400],
  ];
  for (const [query, code] of faults) {
    it(`refuses ${query} with ${code}`, () => assert.throws(() => parse(query), { code }));
  }
});

it('a combination that is invalid by the table is a 400 with the words and causes of a 422', () => {
  assert.throws(() => parse('resourceVersionMatch=Exact&resourceVersion=0'), {
    reason: 'BadRequest',
    message:
      'ListOptions.meta.example.dev "" is invalid: resourceVersionMatch: Forbidden: ' +
      'resourceVersionMatch "exact" is forbidden for resourceVersion "0"',
  });
});

describe('checkWatchRules', () => {
  const check = (query: string, hasInitialEvents = true) =>
    checkWatchRules(new URLSearchParams(query), services.names, hasInitialEvents);
  const faults: [string, RegExp][] = [
    ['sendInitialEvents=true', /resourceVersionMatch: Forbidden: sendInitialEvents requires setting/],
    ['sendInitialEvents=false&resourceVersionMatch=Exact', /\[.*requires setting.*, .*Unsupported value: "Exact"/],
    ['resourceVersionMatch=NotOlderThan', /forbidden for watch unless sendInitialEvents is provided$/],
    ['resourceVersionMatch=NotOlderThan&sendInitialEvents=true&continue=x', /forbidden when continue is provided$/],
    ['continue=x&resourceVersion=0', /forbidden when continue is provided$/],
  ];
  for (const [query, message] of faults) {
    it(`refuses ${query}`, () => assert.throws(() => check(query), { code: 422, message }));
  }

  it('takes the rest, and initial events only with their feature', () => {
    const query = 'resourceVersionMatch=NotOlderThan&sendInitialEvents=true';
    check(query);
    check('resourceVersion=5&limit=3&continue=x');
    assert.throws(() => check(query, false), { code: 422, message: /unless the WatchList feature gate is enabled/ });
  });
});
