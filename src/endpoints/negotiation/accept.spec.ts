import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { vendorNames } from '../../machinery/vendor.js';
import { AcceptNegotiator, wantsPretty } from './accept.js';

const table = 'application/json;as=Table;g=meta.k8s.io;v=v1';

describe('AcceptNegotiator', () => {
  const negotiator = new AcceptNegotiator(vendorNames('k8s.io'));
  const cases: [string | undefined, string][] = [
    [undefined, 'json'],
    ['*/*', 'json'],
    ['application/*', 'json'],
    ['application/yaml', 'yaml'],
    ['application/xml, application/yaml', 'yaml'],
    ['application/yaml;q=0.1, application/json;q=0.9', 'json'],
    [table, 'json Table v1'],
    [`${table}, application/json`, 'json Table v1'],
    ['application/json;as=Table;g=meta.k8s.io;v=v1beta1', 'json Table v1beta1'],
    ['application/json;as=Nothing;g=meta.k8s.io;v=v1, application/json', 'json'],
    ['application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1', 'json PartialObjectMetadata v1'],
  ];
  for (const [header, expected] of cases) {
    it(`${header}`, () => {
      // Twice: the second answer comes from the cache.
      for (let i = 0; i < 2; i++) {
        const accepted = negotiator.negotiate(header, true);
        assert.equal([accepted.mediaType, accepted.as, accepted.asVersion].filter(Boolean).join(' '), expected);
      }
    });
  }

  it('answers 406 when nothing fits', () => {
    assert.throws(() => negotiator.negotiate('application/xml', true), { code: 406, message: '406: Not Acceptable' });
    const wrongGroup = 'application/json;as=Table;g=other.example;v=v1';
    assert.throws(() => negotiator.negotiate(wrongGroup, true), { code: 406, message: /^only the following media types/ });
    assert.throws(() => negotiator.negotiate(table, false), { code: 406 });
  });
});

describe('wantsPretty', () => {
  it('follows the query before the user agent', () => {
    assert.equal(wantsPretty(new URLSearchParams('pretty=true'), 'x'), true);
    assert.equal(wantsPretty(new URLSearchParams('pretty=false'), 'curl/8'), false);
    assert.equal(wantsPretty(new URLSearchParams(), 'curl/8'), true);
    assert.equal(wantsPretty(new URLSearchParams(), 'kubectl/v1'), false);
  });
});
