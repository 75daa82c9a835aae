import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { assertCauses } from '../../../../test/support/causes.js';
import { DefinitionTester } from '../../../../test/support/definition-tester.js';
import { endpointsResource } from './endpoints.resource.js';

const tester = new DefinitionTester(endpointsResource());
const at = 'subsets[0].addresses[0]';
const address = (value: object) => ({ subsets: [{ addresses: [value] }] });
const port = (...ports: object[]) => ({ subsets: [{ addresses: [{ ip: '1.2.3.4' }], ports }] });

describe('endpoints', () => {
  const bad: [string, Record<string, unknown>, string[]][] = [
    [
      'no address',
      { subsets: [{ ports: [{ port: 1 }] }] },
      ['Required | subsets[0] | Required value: must specify `add'],
    ],
    [
      'an address that is none',
      address({ ip: 'x' }),
      [
        `Invalid | ${at}.ip | Invalid value: "x": must be a valid IP address, (e.g.`,
        `Invalid | ${at}.ip | Invalid value`,
      ],
    ],
    [
      'loopback',
      address({ ip: '127.0.0.1' }),
      [`Invalid | ${at}.ip | Invalid value: "127.0.0.1": may not be in the loop`],
    ],
    [
      'IPv6 loopback',
      address({ ip: '::1' }),
      [`Invalid | ${at}.ip | Invalid value: "::1": may not be in the loopback`],
    ],
    [
      'mapped loopback',
      address({ ip: '::ffff:127.0.0.1' }),
      [
        `Invalid | ${at}.ip | Invalid value: "::ffff:127.0.0.1": must not be an IPv4-mapped IPv6 address`,
        `Invalid | ${at}.ip | Invalid value: "::ffff:127.0.0.1": ma`,
      ],
    ],
    [
      'link-local',
      address({ ip: '169.254.1.1' }),
      [`Invalid | ${at}.ip | Invalid value: "169.254.1.1": may not be in the`],
    ],
    [
      'IPv6 link-local',
      address({ ip: 'fe80::1' }),
      [`Invalid | ${at}.ip | Invalid value: "fe80::1": may not be in the li`],
    ],
    [
      'multicast',
      address({ ip: '224.0.0.1' }),
      [`Invalid | ${at}.ip | Invalid value: "224.0.0.1": may not be in the link`],
    ],
    [
      'no address at all',
      address({ ip: '0.0.0.0' }),
      [`Invalid | ${at}.ip | Invalid value: "0.0.0.0": may not be unspec`],
    ],
    [
      'bad names',
      address({ ip: '1.2.3.4', hostname: 'A_', nodeName: '_' }),
      [`Invalid | ${at}.hostname | Invalid value: "A_"`, `Invalid | ${at}.nodeName | Invalid value: "_"`],
    ],
    [
      'bad ports',
      port({ port: 0, name: 'A', protocol: 'X', appProtocol: 'a b' }, { port: 1 }),
      [
        'Invalid | subsets[0].ports[0].name | Invalid value: "A"',
        'Invalid | subsets[0].ports[0].port | Invalid value: 0: must be between 1 and 65535, inclusive',
        'NotSupported | subsets[0].ports[0].protocol | Unsupported value: "X": supported values: "SCTP", "TCP", "UDP"',
        'Invalid | subsets[0].ports[0].appProtocol | Invalid value: "a b"',
        'Required | subsets[0].ports[1].name | Required value',
      ],
    ],
  ];
  for (const [name, body, expected] of bad) {
    it(`refuse ${name}`, () => assertCauses(tester.create(body).causes, expected));
  }

  it('use TCP', () => {
    const { object, causes } = tester.create(port({ port: 80 }));
    assertCauses(causes, []);
    assert.deepEqual(object.subsets, [{ addresses: [{ ip: '1.2.3.4' }], ports: [{ port: 80, protocol: 'TCP' }] }]);
  });

  it('show their first three addresses', () => {
    const shown = (subsets: object[]) => tester.cells(tester.create({ subsets }).object)[1];
    const addresses = ['1.1.1.1', '1.1.1.2', 'fd00::1', '1.1.1.4'].map((ip) => ({ ip }));
    assert.equal(shown([]), '<none>');
    assert.equal(shown([{ addresses }]), '1.1.1.1,1.1.1.2,fd00::1');
    assert.equal(shown([{ addresses, ports: [{ port: 80 }] }]), '1.1.1.1:80,1.1.1.2:80,[fd00::1]:80 + 1 more...');
    assert.equal(shown([{ notReadyAddresses: addresses, ports: [{ port: 80 }] }]), '<none>');
  });
});
