import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  DefinitionTester,
  testClock,
  testNames,
  testRanges,
  testStores,
} from '../../../test/support/definition-tester.js';
import { formatTime } from '../../base/machinery/clock.js';
import { ingressResource } from './ingress/ingress.resource.js';
import { ingressClassResource } from './ingress-class/ingress-class.resource.js';
import { ipAddressResource } from './ip-address/ip-address.resource.js';
import { networkPolicyResource } from './network-policy/network-policy.resource.js';
import { networkingResources } from './networking-api.module.js';
import { serviceCidrResource } from './service-cidr/service-cidr.resource.js';

const service = { service: { name: 's', port: { number: 80 } } };
const subdomain =
  "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character";

/** The causes without the long explanations of name rules. */
function short(causes: readonly string[]): string[] {
  return causes.map((cause) => cause.replace(/ \((?:e\.g\.|regex).*$/s, ''));
}

it('registers each resource once', () => {
  const names = networkingResources(testNames, testStores(), testRanges).map((d) => d.resource);
  assert.deepEqual(names, ['ingresses', 'ingressclasses', 'networkpolicies', 'ipaddresses', 'servicecidrs']);
});

describe('Ingress', () => {
  const tester = new DefinitionTester(ingressResource(testNames));
  const withPath = (path: object) => ({
    spec: { rules: [{ http: { paths: [{ pathType: 'Exact', path: '/', ...path }] } }] },
  });
  const withBackend = (backend: object) => withPath({ backend });

  it('starts with an empty status and generation 1', () => {
    const { object, causes } = tester.create({
      spec: { defaultBackend: service },
      status: { loadBalancer: { ingress: [{ ip: '1.2.3.4' }] } },
    });
    assert.deepEqual(causes, []);
    assert.deepEqual(object.status, { loadBalancer: {} });
    assert.equal(object.metadata.generation, 1);
  });

  const path = 'spec.rules[0].http.paths[0]';
  const cases: readonly (readonly [string, Record<string, unknown>, readonly string[]])[] = [
    ['wildcard host', { spec: { rules: [{ host: '*.example.com' }] } }, []],
    [
      'nothing to do',
      { spec: {} },
      ['FieldValueInvalid | spec | Invalid value: null: either `defaultBackend` or `rules` must be specified'],
    ],
    [
      'IP as host',
      { spec: { rules: [{ host: '1.2.3.4' }] } },
      ['FieldValueInvalid | spec.rules[0].host | Invalid value: "1.2.3.4": must be a DNS name, not an IP address'],
    ],
    [
      'no paths',
      { spec: { rules: [{ http: {} }] } },
      ['FieldValueRequired | spec.rules[0].http.paths | Required value'],
    ],
    [
      'no path type',
      withPath({ pathType: null, backend: service }),
      [`FieldValueRequired | ${path}.pathType | Required value: pathType must be specified`],
    ],
    [
      'unknown path type',
      withPath({ pathType: 'Odd', backend: service }),
      [
        `FieldValueNotSupported | ${path}.pathType | Unsupported value: "Odd": supported values: "Exact", "ImplementationSpecific", "Prefix"`,
      ],
    ],
    [
      'relative path',
      withPath({ path: 'a', backend: service }),
      [`FieldValueInvalid | ${path}.path | Invalid value: "a": must be an absolute path`],
    ],
    [
      'missing prefix path',
      withPath({ path: '', pathType: 'Prefix', backend: service }),
      [`FieldValueInvalid | ${path}.path | Invalid value: "": must be an absolute path`],
    ],
    ['free path', withPath({ path: '', pathType: 'ImplementationSpecific', backend: service }), []],
    [
      'relative free path',
      withPath({ path: 'a', pathType: 'ImplementationSpecific', backend: service }),
      [`FieldValueInvalid | ${path}.path | Invalid value: "a": must be an absolute path`],
    ],
    [
      'path that changes when normalised',
      withPath({ path: '/a//b/%2f/..', backend: service }),
      [
        `FieldValueInvalid | ${path}.path | Invalid value: "/a//b/%2f/..": must not contain '//'`,
        `FieldValueInvalid | ${path}.path | Invalid value: "/a//b/%2f/..": must not contain '%2f'`,
        `FieldValueInvalid | ${path}.path | Invalid value: "/a//b/%2f/..": cannot end with '/..'`,
      ],
    ],
    [
      'no backend',
      withBackend({}),
      [`FieldValueInvalid | ${path}.backend | Invalid value: "": resource or service backend is required`],
    ],
    [
      'two backends',
      withBackend({ ...service, resource: { kind: 'K', name: 'n' } }),
      [`FieldValueInvalid | ${path}.backend | Invalid value: "": cannot set both resource and service backends`],
    ],
    [
      'service without anything',
      withBackend({ service: { name: '', port: {} } }),
      [
        `FieldValueRequired | ${path}.backend.service.name | Required value`,
        `FieldValueRequired | ${path}.backend | Required value: port name or number is required`,
      ],
    ],
    [
      'port by name and number',
      withBackend({ service: { name: 's', port: { name: 'a', number: 1 } } }),
      [`FieldValueInvalid | ${path}.backend | Invalid value: "": cannot set both port name & port number`],
    ],
    [
      'port out of range',
      withBackend({ service: { name: 's', port: { number: 70000 } } }),
      [
        `FieldValueInvalid | ${path}.backend.service.port.number | Invalid value: 70000: must be between 1 and 65535, inclusive`,
      ],
    ],
    [
      'resource without anything',
      withBackend({ resource: { apiGroup: 'A', kind: '', name: 'a/b' } }),
      [
        `FieldValueInvalid | ${path}.backend.resource.apiGroup | Invalid value: "A": ${subdomain}`,
        `FieldValueRequired | ${path}.backend.resource.kind | Required value`,
        `FieldValueInvalid | ${path}.backend.resource.name | Invalid value: "a/b": may not contain '/'`,
      ],
    ],
    [
      'TLS and class',
      { spec: { defaultBackend: service, ingressClassName: 'UP', tls: [{ hosts: ['_'], secretName: 'A' }] } },
      [
        `FieldValueInvalid | spec.tls[0].hosts[0] | Invalid value: "_": ${subdomain}`,
        `FieldValueInvalid | spec.tls[0].secretName | Invalid value: "A": ${subdomain}`,
        `FieldValueInvalid | spec.ingressClassName | Invalid value: "UP": ${subdomain}`,
      ],
    ],
    [
      'class named twice',
      {
        metadata: { annotations: { 'kubernetes.io/ingress.class': 'a' } },
        spec: { defaultBackend: service, ingressClassName: 'b' },
      },
      [
        'FieldValueInvalid | annotations.kubernetes.io/ingress.class | Invalid value: "a": must match `ingressClassName` when both are specified',
      ],
    ],
  ];
  for (const [name, body, expected] of cases) {
    it(`judges ${name}`, () => assert.deepEqual(short(tester.create(body).causes), expected));
  }

  it('lets an old object name its class twice', () => {
    const { object } = tester.create({
      metadata: { annotations: { 'kubernetes.io/ingress.class': 'a' } },
      spec: { defaultBackend: service },
    });
    const changed = tester.patch(object, {
      spec: { ingressClassName: 'b' },
      status: { loadBalancer: { ingress: [{}] } },
    });
    assert.deepEqual(changed.causes, []);
    assert.equal(changed.object.metadata.generation, 2);
    assert.deepEqual(changed.object.status, { loadBalancer: {} });
  });

  it('checks a status and keeps the spec', () => {
    const { object } = tester.create({ spec: { defaultBackend: service } });
    const points = [{ ip: 'x' }, { hostname: '1.2.3.4' }, { ip: '::1', ports: [{ port: 0, protocol: 'X' }] }];
    const bad = tester.patch(object, { status: { loadBalancer: { ingress: points } } }, 'status');
    const at = 'status.loadBalancer.ingress';
    assert.deepEqual(bad.causes, [
      `FieldValueInvalid | ${at}[0].ip | Invalid value: "x": must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)`,
      `FieldValueInvalid | ${at}[1].hostname | Invalid value: "1.2.3.4": must be a DNS name, not an IP address`,
      `FieldValueInvalid | ${at}[2].ports[0].port | Invalid value: 0: must be between 1 and 65535, inclusive`,
      `FieldValueNotSupported | ${at}[2].ports[0].protocol | Unsupported value: "X": supported values: "SCTP", "TCP", "UDP"`,
    ]);
    const good = tester.patch(
      object,
      { spec: null, status: { loadBalancer: { ingress: [{ ip: '1.2.3.4' }] } } },
      'status',
    );
    assert.deepEqual(good.causes, []);
    assert.deepEqual(good.object.spec, { defaultBackend: service });
    assert.equal(good.object.metadata.generation, 1);
  });

  it('prints a table row', () => {
    const rules = ['a.b', 'c.d', 'e.f', 'g.h', 'i.j'].map((host) => ({ host }));
    const { object } = tester.create({ spec: { ingressClassName: 'c', rules, tls: [{}] } });
    object.status = {
      loadBalancer: { ingress: [{ ip: '2.2.2.2' }, { hostname: 'long.example.com' }, { ip: '1.1.1.1' }] },
    };
    assert.deepEqual(tester.cells(object, 61), [
      'a',
      'c',
      'a.b,c.d,e.f + 2 more...',
      '1.1.1.1,2.2.2.2,long.example.com',
      '80, 443',
      '61s',
    ]);
    const plain = tester.create({ spec: { defaultBackend: service } }).object;
    assert.deepEqual(tester.cells(plain), ['a', '<none>', '*', '', '80', '0s']);
  });
});

describe('IngressClass', () => {
  const tester = new DefinitionTester(ingressClassResource(testNames));
  const parameters = { kind: 'K', name: 'n' };

  it('fills the scope of its parameters', () => {
    const { object, causes } = tester.create({ spec: { controller: 'a.b/c', parameters } });
    assert.deepEqual(causes, []);
    assert.deepEqual(object.spec, { controller: 'a.b/c', parameters: { ...parameters, scope: 'Cluster' } });
    assert.deepEqual(tester.cells(object), ['a', 'a.b/c', 'K/n', '0s']);
  });

  const cases: readonly (readonly [string, object, readonly string[]])[] = [
    ['no controller', {}, ['FieldValueRequired | spec.controller | Required value']],
    [
      'controller without path',
      { controller: 'a.b/' },
      [
        'FieldValueInvalid | spec.controller | Invalid value: "a.b/": must be a domain-prefixed path (such as "acme.io/foo")',
      ],
    ],
    [
      'long controller',
      { controller: `a.b/${'c'.repeat(250)}` },
      ['FieldValueTooLong | spec.controller | Too long: may not be more than 250 bytes'],
    ],
    [
      'controller domain',
      { controller: 'A/b' },
      [`FieldValueInvalid | spec.controller | Invalid value: "A": ${subdomain}`],
    ],
    [
      'unknown scope',
      { controller: 'a.b/c', parameters: { ...parameters, scope: 'X' } },
      [
        'FieldValueNotSupported | spec.parameters.scope | Unsupported value: "X": supported values: "Cluster", "Namespace"',
      ],
    ],
    [
      'missing namespace',
      { controller: 'a.b/c', parameters: { ...parameters, scope: 'Namespace' } },
      ["FieldValueRequired | spec.parameters.namespace | Required value: `parameters.scope` is set to 'Namespace'"],
    ],
    [
      'needless namespace',
      { controller: 'a.b/c', parameters: { ...parameters, namespace: 'x' } },
      ["FieldValueForbidden | spec.parameters.namespace | Forbidden: `parameters.scope` is set to 'Cluster'"],
    ],
  ];
  for (const [name, spec, expected] of cases) {
    it(`judges ${name}`, () => assert.deepEqual(short(tester.create({ spec }).causes), expected));
  }

  it('keeps its controller', () => {
    const { object } = tester.create({ spec: { controller: 'a.b/c' } });
    assert.deepEqual(tester.patch(object, { spec: { controller: 'a.b/d' } }).causes, [
      'FieldValueInvalid | spec.controller | Invalid value: "a.b/d": field is immutable',
    ]);
    assert.deepEqual(tester.patch(object, { spec: { controller: '' } }).causes, [
      'FieldValueInvalid | spec.controller | Invalid value: "": field is immutable',
      'FieldValueRequired | spec.controller | Required value',
    ]);
    assert.deepEqual(tester.patch(object, { spec: { parameters } }).causes, []);
  });
});

describe('NetworkPolicy', () => {
  const tester = new DefinitionTester(networkPolicyResource(testNames));
  const fromBlock = (ipBlock: object, more = {}) => ({ ingress: [{ from: [{ ipBlock, ...more }] }] });
  const block = 'spec.ingress[0].from[0].ipBlock';

  it('fills protocols and policy types', () => {
    const { object } = tester.create({ spec: { ingress: [{ ports: [{ port: 80 }] }], egress: [{}] } });
    assert.deepEqual(object.spec, {
      podSelector: {},
      ingress: [{ ports: [{ protocol: 'TCP', port: 80 }] }],
      egress: [{}],
      policyTypes: ['Ingress', 'Egress'],
    });
    assert.deepEqual((tester.create({ spec: {} }).object.spec as { policyTypes: unknown }).policyTypes, ['Ingress']);
  });

  const cases: readonly (readonly [string, object, readonly string[]])[] = [
    ['CIDR with exceptions', fromBlock({ cidr: '10.0.0.0/8', except: ['10.1.0.0/16'] }), []],
    ['IPv6 CIDR', fromBlock({ cidr: '::/0', except: ['2001:db8::/32'] }), []],
    ['no CIDR', fromBlock({}), [`FieldValueRequired | ${block}.cidr | Required value`]],
    [
      'address',
      fromBlock({ cidr: '1.2.3.4' }),
      [
        `FieldValueInvalid | ${block}.cidr | Invalid value: "1.2.3.4": must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)`,
      ],
    ],
    [
      'exceptions outside',
      fromBlock({ cidr: '10.0.0.0/8', except: ['10.0.0.0/8', '11.0.0.0/16', '::/128', 'x'] }),
      [
        `FieldValueInvalid | ${block}.except[0] | Invalid value: "10.0.0.0/8": must be a strict subset of \`cidr\``,
        `FieldValueInvalid | ${block}.except[1] | Invalid value: "11.0.0.0/16": must be a strict subset of \`cidr\``,
        `FieldValueInvalid | ${block}.except[2] | Invalid value: "::/128": must be a strict subset of \`cidr\``,
        `FieldValueInvalid | ${block}.except[3] | Invalid value: "x": must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)`,
      ],
    ],
    [
      'block and selector',
      fromBlock({ cidr: '10.0.0.0/8' }, { podSelector: {} }),
      ['FieldValueForbidden | spec.ingress[0].from[0] | Forbidden: may not specify both ipBlock and another peer'],
    ],
    [
      'no peer',
      { egress: [{ to: [{}] }] },
      ['FieldValueRequired | spec.egress[0].to[0] | Required value: must specify a peer'],
    ],
    [
      'ports',
      {
        ingress: [
          { ports: [{ protocol: 'X', port: 0 }, { port: 9, endPort: 8 }, { port: 'a', endPort: 1 }, { endPort: 1 }] },
        ],
      },
      [
        'FieldValueNotSupported | spec.ingress[0].ports[0].protocol | Unsupported value: "X": supported values: "TCP", "UDP", "SCTP"',
        'FieldValueInvalid | spec.ingress[0].ports[0].port | Invalid value: 0: must be between 1 and 65535, inclusive',
        'FieldValueInvalid | spec.ingress[0].ports[1].endPort | Invalid value: 8: must be greater than or equal to `port`',
        'FieldValueInvalid | spec.ingress[0].ports[2].endPort | Invalid value: 1: may not be specified when `port` is non-numeric',
        'FieldValueInvalid | spec.ingress[0].ports[3].endPort | Invalid value: 1: may not be specified when `port` is not specified',
      ],
    ],
    [
      'unknown type',
      { policyTypes: ['Sideways'] },
      [
        'FieldValueNotSupported | spec.policyTypes[0] | Unsupported value: "Sideways": supported values: "Ingress", "Egress"',
      ],
    ],
    [
      'three types',
      { policyTypes: ['Ingress', 'Egress', 'Ingress'] },
      [
        'FieldValueInvalid | spec.policyTypes | Invalid value: ["Ingress","Egress","Ingress"]: may not specify more than two policyTypes',
      ],
    ],
    [
      'selector',
      { podSelector: { matchExpressions: [{ key: 'a', operator: 'Odd' }] } },
      [
        'FieldValueInvalid | spec.podSelector.matchExpressions[0].operator | Invalid value: "Odd": not a valid selector operator',
      ],
    ],
  ];
  for (const [name, spec, expected] of cases) {
    it(`judges ${name}`, () =>
      assert.deepEqual(tester.create({ spec: { podSelector: {}, ...spec } }).causes, expected));
  }

  it('prints its selector', () => {
    const { object } = tester.create({ spec: { podSelector: { matchLabels: { b: 'c', a: 'd' } } } });
    assert.deepEqual(tester.cells(object), ['a', 'a=d,b=c', '0s']);
  });
});

describe('IPAddress', () => {
  const tester = new DefinitionTester(ipAddressResource(testNames, testStores()));
  const parentRef = { resource: 'services', namespace: 'default', name: 'web' };
  const create = (name: string, spec: object) => tester.create({ metadata: { name }, spec });

  it('accepts canonical addresses', () => {
    assert.deepEqual(create('10.0.0.1', { parentRef }).causes, []);
    const { object, causes } = create('2001:db8::1', { parentRef });
    assert.deepEqual(causes, []);
    assert.deepEqual(tester.cells(object).slice(0, 2), ['2001:db8::1', 'services/default/web']);
  });

  it('refuses other names and missing parents', () => {
    assert.deepEqual(create('web', { parentRef }).causes, [
      'FieldValueInvalid | metadata.name | Invalid value: "web": must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)',
    ]);
    assert.deepEqual(create('2001:DB8::01', { parentRef }).causes, [
      'FieldValueInvalid | metadata.name | Invalid value: "2001:DB8::01": must be in canonical form ("2001:db8::1")',
    ]);
    assert.deepEqual(create('10.0.0.1', {}).causes, ['FieldValueRequired | spec.parentRef | Required value']);
    assert.deepEqual(create('10.0.0.1', { parentRef: { namespace: 'a/b' } }).causes, [
      'FieldValueRequired | spec.parentRef.resource | Required value',
      'FieldValueRequired | spec.parentRef.name | Required value',
      'FieldValueInvalid | spec.parentRef.namespace | Invalid value: "a/b": may not contain \'/\'',
    ]);
  });

  it('keeps its parent', () => {
    const { object } = create('10.0.0.1', { parentRef });
    const [cause] = tester.patch(object, { spec: { parentRef: { name: 'other' } } }).causes;
    assert.match(cause as string, /^FieldValueInvalid \| spec\.parentRef \| .*field is immutable$/);
    const unnamed = tester.patch(object, { spec: { parentRef: { name: null } } }).causes;
    assert.deepEqual(unnamed, [
      'FieldValueRequired | spec.parentRef.name | Required value',
      'FieldValueInvalid | spec.parentRef | Invalid value: null: field is immutable',
    ]);
  });
});

describe('ServiceCIDR', () => {
  const tester = new DefinitionTester(serviceCidrResource(testNames, testRanges, testClock));
  const causes = (...cidrs: string[]) => tester.create({ spec: { cidrs } }).causes;

  it('takes one range of each family', () => {
    assert.deepEqual(causes('10.0.0.0/16'), []);
    assert.deepEqual(causes('2001:db8::/64', '10.0.0.0/16'), []);
  });

  it('refuses anything else', () => {
    assert.deepEqual(causes(), ['FieldValueRequired | spec.cidrs | Required value: at least one CIDR required']);
    assert.deepEqual(causes('10.0.0.0/16', '::/64', '10.1.0.0/16'), [
      'FieldValueInvalid | spec.cidrs | Invalid value: {"CIDRs":["10.0.0.0/16","::/64","10.1.0.0/16"]}: may only hold up to 2 values',
    ]);
    assert.deepEqual(causes('10.0.0.1/16', 'x'), [
      'FieldValueInvalid | spec.cidrs[0] | Invalid value: "10.0.0.1/16": must not have bits set beyond the prefix length',
      'FieldValueInvalid | spec.cidrs[1] | Invalid value: "x": must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)',
    ]);
    assert.equal(causes('10.0.0.0/16', '10.1.0.0/16').length, 1);
  });

  it('is ready from the start only when it is the range of the flag', () => {
    const conditions = ({ object }: { object: object }) =>
      (object as { status: { conditions?: object[] } }).status.conditions;
    const lastTransitionTime = formatTime(testClock.now());
    const message = 'Kubernetes default Service CIDR is ready';
    const ready = { type: 'Ready', status: 'True', lastTransitionTime, reason: '', message };
    const named = (name: string, cidr: string, by = tester) =>
      conditions(by.create({ metadata: { name }, spec: { cidrs: [cidr] }, status: { conditions: [ready] } }));
    assert.deepEqual(named('kubernetes', '10.0.0.0/16'), [ready]);
    assert.deepEqual([named('kubernetes', '10.1.0.0/16'), named('x', '10.0.0.0/16')], [undefined, undefined]);
    const ranges = { ...testRanges, serviceClusterIpRange: '2001:DB8::1:5/112' };
    const other = new DefinitionTester(serviceCidrResource(testNames, ranges, testClock));
    assert.deepEqual(named('kubernetes', '2001:db8::1:0/112', other), [ready]);
    const flag = { ...testRanges, serviceClusterIpRange: '10.0.0.0/16,fd00:96::/112' };
    const both = new DefinitionTester(serviceCidrResource(testNames, flag, testClock));
    const spec = { cidrs: ['10.0.0.0/16', 'fd00:96::/112'] };
    assert.deepEqual(conditions(both.create({ metadata: { name: 'kubernetes' }, spec })), [ready]);
  });

  it('may only grow by the other family', () => {
    const { object } = tester.create({ spec: { cidrs: ['10.0.0.0/16'] } });
    assert.deepEqual(tester.patch(object, { spec: { cidrs: ['10.0.0.0/16', 'fd00::/64'] } }).causes, []);
    const another = tester.patch(object, { spec: { cidrs: ['10.1.0.0/16', 'x'] } }).causes;
    assert.deepEqual(
      another.map((cause) => cause.split(': ')[0]),
      ['FieldValueInvalid | spec.cidrs[0] | Invalid value', 'FieldValueInvalid | spec.cidrs[1] | Invalid value'],
    );
    assert.deepEqual(tester.patch(object, { spec: { cidrs: ['10.1.0.0/16'] } }).causes, [
      'FieldValueInvalid | spec.cidrs[0] | Invalid value: "10.1.0.0/16": field is immutable',
    ]);
  });

  it('takes any conditions in its status', () => {
    const { object } = tester.create({ spec: { cidrs: ['10.0.0.0/16'] } });
    const conditions = [{ type: 'Ready', status: 'True', reason: '', message: '', observedGeneration: -1 }];
    assert.deepEqual(tester.patch(object, { status: { conditions } }, 'status').causes, []);
  });
});
