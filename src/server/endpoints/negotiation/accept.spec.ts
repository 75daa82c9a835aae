import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { vendorNames } from '../../../base/machinery/vendor.js';
import { AcceptNegotiator, wantsPretty } from './accept.js';

const protobuf = 'application/vnd.kubernetes.protobuf';
const table = 'application/json;as=Table;g=meta.k8s.io;v=v1';

const notServed = `406: Not Acceptable\n\nAvailable representations: application/json, application/yaml, ${protobuf}`;

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
    [`${protobuf},application/json`, 'protobuf'],
    [`application/json, ${protobuf}`, 'json'],
    [`${protobuf};stream=watch`, 'protobuf'],
    ['application/vnd.k8s.io.protobuf;type=v1.Pod', 'protobuf'],
    [`${protobuf};as=PartialObjectMetadataList;g=meta.k8s.io;v=v1`, 'protobuf PartialObjectMetadataList v1'],
    [`${protobuf};as=Table;g=meta.k8s.io;v=v1, ${table}`, 'json Table v1'],
    ['application/cbor', 'cbor'],
    ['application/json;q=0.9,application/cbor;q=1', 'cbor'],
    ['application/cbor;q=0.9,application/json', 'json'],
    [`application/cbor,${protobuf}`, 'cbor'],
    ['application/cbor;as=Table;g=meta.k8s.io;v=v1', 'cbor Table v1'],
    ['application/cbor;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1', 'cbor PartialObjectMetadataList v1'],
  ];
  for (const [header, expected] of cases) {
    it(`${header}`, () => {
      // The second round is served from the cache.
      for (let i = 0; i < 2; i++) {
        const accepted = negotiator.negotiate(header, true);
        assert.equal([accepted.mediaType, accepted.as, accepted.asVersion].filter(Boolean).join(' '), expected);
      }
    });
  }

  it('answers protobuf in the requested spelling', () => {
    const example = new AcceptNegotiator(vendorNames('example.com'));
    for (const type of [protobuf, 'application/vnd.example.com.protobuf']) {
      assert.equal(example.negotiate(type, true).contentType, type);
    }
    assert.throws(() => example.negotiate('application/vnd.k8s.io.protobuf', true), { code: 406 });
  });

  it('names the available media types when only the form is missing', () => {
    const message = `only the following media types are accepted: application/json, application/yaml, ${protobuf}`;
    const header = `${protobuf};as=Table;g=meta.k8s.io;v=v1`;
    assert.throws(() => negotiator.negotiate(header, true), { code: 406, message });
  });

  it('knows a sequence of CBOR for streams only', () => {
    assert.equal(negotiator.negotiateStream('application/cbor-seq').mediaType, 'cbor');
    assert.equal(negotiator.negotiateStream('application/json;q=0.9,application/cbor;q=1').mediaType, 'cbor');
    assert.throws(() => negotiator.negotiate('application/cbor-seq', true), { code: 406 });
    const streams = `application/json;stream=watch, ${protobuf};stream=watch`;
    const message = `only the following media types are accepted: ${streams}`;
    assert.throws(() => negotiator.negotiateStream('application/yaml'), { code: 406, message });
  });

  it('leaves CBOR out where it is switched off', () => {
    const without = new AcceptNegotiator(vendorNames('k8s.io'), false);
    assert.equal(without.negotiate('application/json;q=0.9,application/cbor;q=1', true).mediaType, 'json');
    const representations = without.mediaTypes();
    assert.throws(() => without.negotiate('application/cbor', true, { representations }), {
      code: 406,
      message: notServed,
    });
    assert.equal(without.bodyFormat('application/cbor', true), undefined);
    assert.deepEqual(without.mediaTypes(), ['application/json', 'application/yaml', protobuf]);
  });

  it('answers 406 when nothing fits', () => {
    const refused = (representations?: readonly string[]) => () =>
      negotiator.negotiate('application/xml', true, representations && { representations });
    assert.throws(refused(negotiator.mediaTypes()), { code: 406, message: notServed });
    const streams = 'application/json;stream=watch, application/vnd.kubernetes.protobuf;stream=watch';
    assert.throws(refused(negotiator.streamTypes()), { code: 406, message: `${notServed}, ${streams}` });
    // Custom kinds are not routed by their types, and have protobuf for some of their forms.
    const forms = `only the following media types are accepted: application/json, application/yaml, ${protobuf}`;
    assert.throws(refused(), { code: 406, message: forms });
    const wrongGroup = 'application/json;as=Table;g=other.example;v=v1';
    assert.throws(() => negotiator.negotiate(wrongGroup, true), {
      code: 406,
      message: /^only the following media types/,
    });
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
