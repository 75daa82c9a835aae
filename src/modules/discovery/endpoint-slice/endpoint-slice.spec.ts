import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { DefinitionTester, testNames } from '../../../../test/support/definition-tester.js';
import { endpointSliceResource } from './endpoint-slice.resource.js';

describe('EndpointSlice', () => {
  const tester = new DefinitionTester(endpointSliceResource(testNames));
  const endpoint = { addresses: ['1.2.3.4'] };

  it('fills in names and protocols of ports', () => {
    const { object, causes } = tester.create({ addressType: 'IPv4', endpoints: [endpoint], ports: [{ port: 80 }] });
    assert.deepEqual(causes, []);
    assert.deepEqual(object.ports, [{ name: '', protocol: 'TCP', port: 80 }]);
    assert.deepEqual(object.endpoints, [{ addresses: ['1.2.3.4'], conditions: {} }]);
    assert.equal(object.metadata.generation, 1);
  });

  const cases: readonly (readonly [string, Record<string, unknown>, readonly string[]])[] = [
    ['no type', { endpoints: [] }, ['FieldValueRequired | addressType | Required value']],
    [
      'unknown type',
      { addressType: 'IPv9' },
      ['FieldValueNotSupported | addressType | Unsupported value: "IPv9": supported values: "FQDN", "IPv4", "IPv6"'],
    ],
    [
      'addresses of the wrong type',
      { addressType: 'IPv4', endpoints: [{ addresses: ['::2', '01.2.3.4'] }] },
      [
        'FieldValueInvalid | endpoints[0].addresses | Invalid value: "::2": must be an IPv4 address',
        'FieldValueInvalid | endpoints[0].addresses[1] | Invalid value: "01.2.3.4": must not have leading 0s',
      ],
    ],
    [
      'IPv6 with zone',
      { addressType: 'IPv6', endpoints: [{ addresses: ['fe80::1%eth0', 'fd00::1'] }] },
      [
        'FieldValueInvalid | endpoints[0].addresses[0] | Invalid value: "fe80::1%eth0": must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)',
      ],
    ],
    [
      'short names',
      { addressType: 'FQDN', endpoints: [{ addresses: ['a.b', 'x'] }] },
      [
        'FieldValueInvalid | endpoints[0].addresses[1] | Invalid value: "x": should be a domain with at least two segments separated by dots',
      ],
    ],
    [
      'addresses of the node itself',
      { addressType: 'IPv4', endpoints: [{ addresses: ['127.0.0.1', '169.254.169.254', '0.0.0.0'] }] },
      [
        'FieldValueInvalid | endpoints[0].addresses[0] | Invalid value: "127.0.0.1": may not be in the loopback range (127.0.0.0/8, ::1/128)',
        'FieldValueInvalid | endpoints[0].addresses[1] | Invalid value: "169.254.169.254": may not be in the link-local range (169.254.0.0/16, fe80::/10)',
        'FieldValueInvalid | endpoints[0].addresses[2] | Invalid value: "0.0.0.0": may not be unspecified (0.0.0.0)',
      ],
    ],
    [
      'no addresses, too many addresses',
      { addressType: 'IPv4', endpoints: [{}, { addresses: Array.from({ length: 101 }, (_, i) => `1.1.1.${i}`) }] },
      [
        'FieldValueTooMany | endpoints[1].addresses | Too many: 101: must have at most 100 items',
        'FieldValueRequired | endpoints[0].addresses | Required value',
      ],
    ],
    [
      'too many endpoints and ports',
      {
        addressType: 'IPv4',
        endpoints: Array.from({ length: 1001 }, () => endpoint),
        ports: Array.from({ length: 101 }, (_, i) => ({ name: `p${i}` })),
      },
      [
        'FieldValueTooMany | ports | Too many: 101: must have at most 100 items',
        'FieldValueTooMany | endpoints | Too many: 1001: must have at most 1000 items',
      ],
    ],
    [
      'ports that share a name',
      { addressType: 'IPv4', ports: [{}, { protocol: 'X' }] },
      [
        'FieldValueDuplicate | ports[1].name | Duplicate value: ""',
        'FieldValueNotSupported | ports[1].protocol | Unsupported value: "X": supported values: "SCTP", "TCP", "UDP"',
      ],
    ],
    [
      'hints',
      {
        addressType: 'IPv4',
        endpoints: [
          { ...endpoint, hints: { forZones: [{ name: 'a' }, { name: 'a' }], forNodes: Array(9).fill({ name: 'n' }) } },
        ],
      },
      [
        'FieldValueDuplicate | endpoints[0].hints.forZones[1].name | Duplicate value: "a"',
        'FieldValueTooMany | endpoints[0].hints.forNodes | Too many: 9: must have at most 8 items',
      ],
    ],
  ];
  for (const [name, body, expected] of cases) {
    it(`judges ${name}`, () => assert.deepEqual(tester.create(body).causes, expected));
  }

  it('names the place of an endpoint in the way of its version', () => {
    const older = new DefinitionTester(endpointSliceResource(testNames), 'v1beta1');
    const zone = `topology.${testNames.labelPrefix}/zone`;
    const slice = (topology: object) => ({ addressType: 'IPv4', endpoints: [{ ...endpoint, topology }] });
    const fieldsOf = (topology: object) => older.create(slice(topology)).causes.map((cause) => cause.split(' | ')[1]);
    assert.deepEqual(fieldsOf({ 'a b': 'c' }), ['endpoints[0].topology']);
    assert.deepEqual(fieldsOf({ [zone]: 'not valid!' }), ['endpoints[0].topology']);
    const labels = Object.fromEntries(Array.from({ length: 15 }, (_, i) => [`k${i}`, 'v']));
    assert.deepEqual(fieldsOf({ ...labels, [zone]: 'z' }), []);
    assert.deepEqual(older.create(slice({ ...labels, [zone]: 'z', more: 'v' })).causes, [
      'FieldValueTooMany | endpoints[0].topology | Too many: 17: must have at most 16 items',
    ]);
    assert.deepEqual(
      tester.create({ addressType: 'IPv4', endpoints: [{ ...endpoint, zone: 'not valid!' }] }).causes.length,
      0,
    );
  });

  it('keeps its type and counts changes of its content', () => {
    const { object } = tester.create({ addressType: 'IPv4', endpoints: [endpoint] });
    assert.deepEqual(tester.patch(object, { addressType: 'FQDN', endpoints: null }).causes, [
      'FieldValueInvalid | addressType | Invalid value: null: field is immutable',
    ]);
    const fields = (change: Record<string, unknown>) =>
      tester.patch(object, change).causes.map((cause) => cause.split(' | ')[1]);
    assert.deepEqual(fields({ addressType: 'IPv6' }), ['addressType']);
    const others = { addressType: 'IPv6', endpoints: [{ addresses: ['9.9.9.9'] }] };
    assert.deepEqual(fields(others), ['endpoints[0].addresses', 'addressType']);
    assert.equal(tester.patch(object, { metadata: { labels: { a: 'b' } } }).object.metadata.generation, 2);
    assert.equal(tester.patch(object, { metadata: { annotations: { a: 'b' } } }).object.metadata.generation, 1);
    assert.deepEqual(fields({ addressType: 'Odd' }), ['addressType', 'addressType']);
    assert.equal(tester.patch(object, { endpoints: [] }).object.metadata.generation, 2);
  });

  it('shortens long cells', () => {
    const ports = ['a', 'b', 'c', 'd'].map((name, i) => ({ name, port: i + 1 }));
    const { object } = tester.create({
      addressType: 'IPv4',
      endpoints: [{ addresses: ['1.1.1.1', '1.1.1.2', '1.1.1.3'] }, { addresses: ['1.1.1.4'] }],
      ports,
    });
    assert.deepEqual(tester.cells(object), [
      'a',
      'IPv4',
      '1,2,3 + 1 more...',
      '1.1.1.1,1.1.1.2,1.1.1.3 + 1 more...',
      '0s',
    ]);
    for (const ports of [undefined, [{}]]) {
      const empty = tester.create({ addressType: 'IPv4', ...(ports === undefined ? {} : { ports }) }).object;
      assert.deepEqual(tester.cells(empty), ['a', 'IPv4', '<unset>', '<unset>', '0s']);
    }
  });
});
