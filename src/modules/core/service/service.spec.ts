import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { assertCauses } from '../../../../test/support/causes.js';
import { testNames, testRanges } from '../../../../test/support/definition-tester.js';
import { serviceTester } from '../../../../test/support/service-tester.js';
import type { ApiObject } from '../../../base/machinery/api-object.js';
import type { Service } from '../../../objects/apis/core/v1/service.types.js';
import { serviceWarnings } from './service-warnings.js';

const tester = serviceTester(testRanges);
const ports = [{ port: 80 }];
const service = (spec: object) => ({ spec: { ports, ...spec } });
const specOf = (object: ApiObject) => object.spec as Record<string, unknown>;
const single = { internalTrafficPolicy: 'Cluster', ipFamilies: ['IPv4'], ipFamilyPolicy: 'SingleStack' };
const tcp80 = { port: 80, protocol: 'TCP', targetPort: 80 };

/** A stored service with its allocations. */
function stored(spec: object): ApiObject {
  const { object, causes } = tester.create(service(spec));
  assertCauses(causes, []);
  const own = specOf(object);
  if (own.type !== 'ExternalName' && own.clusterIP === undefined) {
    own.clusterIP = '10.0.0.9';
    own.clusterIPs = ['10.0.0.9'];
  }
  if (own.type === 'NodePort' || own.type === 'LoadBalancer') {
    (own.ports as { nodePort?: number }[]).forEach((port, i) => {
      port.nodePort = 30000 + i;
    });
  }
  if (own.externalTrafficPolicy === 'Local') own.healthCheckNodePort = 31000;
  return object;
}

describe('service defaults', () => {
  const common = { ...single, ports: [tcp80], sessionAffinity: 'None' };
  const cases: [string, object, object][] = [
    ['inside the cluster', {}, { ...common, type: 'ClusterIP' }],
    ['on nodes', { type: 'NodePort' }, { ...common, type: 'NodePort', externalTrafficPolicy: 'Cluster' }],
    [
      'behind a load balancer',
      { type: 'LoadBalancer', externalTrafficPolicy: 'Local' },
      { ...common, type: 'LoadBalancer', externalTrafficPolicy: 'Local', allocateLoadBalancerNodePorts: true },
    ],
    [
      'with addresses of its own',
      { externalIPs: ['1.1.1.1'] },
      { ...common, type: 'ClusterIP', externalIPs: ['1.1.1.1'], externalTrafficPolicy: 'Cluster' },
    ],
    [
      'headless for any backend',
      { clusterIP: 'None' },
      {
        ...common,
        type: 'ClusterIP',
        clusterIP: 'None',
        clusterIPs: ['None'],
        ipFamilies: ['IPv4', 'IPv6'],
        ipFamilyPolicy: 'RequireDualStack',
      },
    ],
    [
      'headless for pods',
      { clusterIP: 'None', selector: { a: 'b' } },
      { ...common, type: 'ClusterIP', clusterIP: 'None', clusterIPs: ['None'], selector: { a: 'b' } },
    ],
    [
      'an alias',
      { type: 'ExternalName', externalName: 'a.b.' },
      { ports: [tcp80], sessionAffinity: 'None', type: 'ExternalName', externalName: 'a.b.' },
    ],
    [
      'with sticky clients',
      { sessionAffinity: 'ClientIP' },
      {
        ...common,
        type: 'ClusterIP',
        sessionAffinity: 'ClientIP',
        sessionAffinityConfig: { clientIP: { timeoutSeconds: 10800 } },
      },
    ],
    [
      'with left-over stickiness',
      { sessionAffinityConfig: { clientIP: { timeoutSeconds: 5 } } },
      { ...common, type: 'ClusterIP' },
    ],
  ];
  for (const [name, spec, expected] of cases) {
    it(name, () => {
      const { object, causes } = tester.create({
        ...service(spec),
        status: { loadBalancer: { ingress: [{ ip: '1' }] } },
      });
      assertCauses(causes, []);
      assert.deepEqual(object.spec, expected);
      assert.deepEqual(object.status, { loadBalancer: {} });
    });
  }
});

describe('service rules', () => {
  const at = 'spec.ports[0]';
  const onlyLb = "may only be used when `type` is 'LoadBalancer'";
  const bad: [string, object, string[]][] = [
    ['no ports', { ports: [] }, ['Required | spec.ports | Required value']],
    [
      'bad ports',
      {
        ports: [
          { port: 0, protocol: 'X', targetPort: '!', appProtocol: 'a b' },
          { port: 1, name: 'A' },
          { port: 2, name: 'A' },
        ],
      },
      [
        `Required | ${at}.name | Required value`,
        `Invalid | ${at}.port | Invalid value: 0: must be between 1 and 65535, inclusive`,
        `NotSupported | ${at}.protocol | Unsupported value: "X": supported values: "SCTP", "TCP", "UDP"`,
        `Invalid | ${at}.targetPort | Invalid value: "!": must contain only alpha-numeric`,
        `Invalid | ${at}.targetPort | Invalid value: "!": must contain at least one letter`,
        `Invalid | ${at}.appProtocol | Invalid value: "a b": name part`,
        'Invalid | spec.ports[1].name | Invalid value: "A": a lowercase RFC 1123 label',
        'Invalid | spec.ports[2].name | Invalid value: "A": a lowercase RFC 1123 label',
        'Duplicate | spec.ports[2].name | Duplicate value: "A"',
      ],
    ],
    [
      'one port twice',
      {
        ports: [
          { port: 80, name: 'a' },
          { port: 80, name: 'b' },
        ],
      },
      [
        'Duplicate | spec.ports[1] | Duplicate value: {"Name":"","Protocol":"TCP","AppProtocol":null,"Port":80,"TargetPort":0,"NodePort":0}',
      ],
    ],
    [
      'one node port twice',
      {
        type: 'NodePort',
        ports: [
          { port: 80, name: 'a', nodePort: 30000 },
          { port: 81, name: 'b', nodePort: 30000 },
        ],
      },
      ['Invalid | spec.ports[1].nodePort | Invalid value: 30000: provided port is already allocated'],
    ],
    [
      'one node port twice where there may be none',
      {
        ports: [
          { port: 80, name: 'a', nodePort: 30000 },
          { port: 81, name: 'b', nodePort: 30000 },
        ],
      },
      [
        "Forbidden | spec.ports[0].nodePort | Forbidden: may not be used when `type` is 'ClusterIP'",
        "Forbidden | spec.ports[1].nodePort | Forbidden: may not be used when `type` is 'ClusterIP'",
        'Duplicate | spec.ports[1].nodePort | Duplicate value: 30000',
      ],
    ],
    [
      'a node port inside the cluster',
      { ports: [{ port: 80, nodePort: 30000 }] },
      [`Forbidden | ${at}.nodePort | Forbidden: may not be used when \`type\` is 'ClusterIP'`],
    ],
    [
      'an unknown type',
      { type: 'Odd' },
      ['NotSupported | spec.type | Unsupported value: "Odd": supported values: "Clus'],
    ],
    [
      'a headless node port',
      { type: 'NodePort', clusterIP: 'None' },
      ['Invalid | spec.clusterIPs[0] | Invalid value: "None": may not be set to \'None\' for NodePort services'],
    ],
    [
      'an alias of nothing, with an address',
      { type: 'ExternalName', clusterIP: '10.0.0.4' },
      [
        'Forbidden | spec.clusterIPs | Forbidden: may not be set for ExternalName services',
        'Required | spec.externalName | Required value',
      ],
    ],
    [
      'an alias of no name',
      { type: 'ExternalName', externalName: 'A_' },
      ['Invalid | spec.externalName | Invalid value: "A_"'],
    ],
    [
      'an address that is none',
      { clusterIP: 'x' },
      ['Invalid | spec.clusterIPs[0] | Invalid value: "x": must be a valid'],
    ],
    [
      'only the list of addresses',
      { clusterIPs: ['10.0.0.4'] },
      ['Invalid | spec.clusterIPs | Invalid value: ["10.0.0.4"]: must be empty when `clusterIP` is not specified'],
    ],
    [
      'two different first addresses',
      { clusterIP: '10.0.0.5', clusterIPs: ['10.0.0.4'] },
      ['Invalid | spec.clusterIPs | Invalid value: ["10.0.0.4"]: first value must match `clusterIP`'],
    ],
    [
      'two addresses of one family',
      { clusterIP: '10.0.0.4', clusterIPs: ['10.0.0.4', '10.0.0.5'] },
      ['Invalid | spec.clusterIPs | Invalid value: ["10.0.0.4","10.0.0.5"]: may specify no more than one IP'],
    ],
    [
      'a family the cluster does not have',
      { ipFamilies: ['IPv6'], ipFamilyPolicy: 'RequireDualStack' },
      [
        'Invalid | spec.ipFamilyPolicy | Invalid value: "RequireDualStack": this cluster is not configured for dual-stack',
        'Invalid | spec.ipFamilies[0] | Invalid value: "IPv6": not configured on this cluster',
      ],
    ],
    [
      'bad labels',
      { selector: { '-': '-' } },
      [
        'Invalid | spec.selector | Invalid value: "-": name part',
        'Invalid | spec.selector | Invalid value: "-": a valid',
      ],
    ],
    [
      'unknown stickiness',
      { sessionAffinity: 'Odd' },
      ['NotSupported | spec.sessionAffinity | Unsupported value: "Odd": supported values: "ClientIP", "None"'],
    ],
    [
      'endless stickiness',
      { sessionAffinity: 'ClientIP', sessionAffinityConfig: { clientIP: { timeoutSeconds: 86401 } } },
      [
        'Invalid | spec.sessionAffinityConfig.clientIP.timeoutSeconds | Invalid value: 86401: must be greater than 0 and',
      ],
    ],
    [
      'special addresses',
      { externalIPs: ['x', '127.0.0.1'] },
      [
        'Invalid | spec.externalIPs[0] | Invalid value: "x": must be a valid IP address, (e.g.',
        'Invalid | spec.externalIPs[1] | Invalid value: "127.0.0.1": may not be in the loopback range',
      ],
    ],
    [
      'what only load balancers have',
      { loadBalancerSourceRanges: ['x'], allocateLoadBalancerNodePorts: true, loadBalancerClass: 'a b' },
      [
        `Forbidden | spec.LoadBalancerSourceRanges | Forbidden: ${onlyLb}`,
        'Invalid | spec.LoadBalancerSourceRanges[0] | Invalid value: "x": must be a valid CIDR value',
        `Forbidden | spec.allocateLoadBalancerNodePorts | Forbidden: ${onlyLb}`,
        `Forbidden | spec.loadBalancerClass | Forbidden: ${onlyLb}`,
      ],
    ],
    [
      'a way from outside, inside',
      { externalTrafficPolicy: 'Local' },
      ['Invalid | spec.externalTrafficPolicy | Invalid value: "Local": may only be set for externally-accessible'],
    ],
    [
      'unknown ways',
      { type: 'NodePort', externalTrafficPolicy: 'Odd', healthCheckNodePort: -1, internalTrafficPolicy: 'Odd' },
      [
        'NotSupported | spec.externalTrafficPolicy | Unsupported value: "Odd": supported values: "Cluster"',
        'Invalid | spec.healthCheckNodePort | Invalid value: -1: may only be set when `type` is',
        'NotSupported | spec.internalTrafficPolicy | Unsupported value: "Odd": supported values: "Cluster", "Local"',
      ],
    ],
    [
      'health checks of nobody',
      { type: 'NodePort', healthCheckNodePort: 31000 },
      ["Invalid | spec.healthCheckNodePort | Invalid value: 31000: may only be set when `type` is 'LoadBalancer'"],
    ],
    [
      'an unknown distribution',
      { trafficDistribution: 'Odd' },
      ['NotSupported | spec.trafficDistribution | Unsupported value: "Odd"'],
    ],
  ];
  for (const [name, spec, expected] of bad) {
    it(`refuse ${name}`, () => assertCauses(tester.create(service(spec)).causes, expected));
  }

  it('refuse clients of a load balancer in the old annotation that are no ranges', () => {
    const key = 'service.beta.kubernetes.io/load-balancer-source-ranges';
    const path = `metadata.annotations[${key}]`;
    const annotated = (text: string, type: string) => ({
      ...service({ type }),
      metadata: { annotations: { [key]: text } },
    });
    const causesOf = (text: string, type = 'LoadBalancer') => tester.create(annotated(text, type)).causes;
    assertCauses(causesOf(' 10.0.0.0/8 ,2001:db8::/64'), []);
    assertCauses(causesOf('  '), []);
    assertCauses(causesOf('x, 10.0.0.0/8,'), [
      `Invalid | ${path} | Invalid value: "x": must be a valid CIDR value`,
      `Invalid | ${path} | Invalid value: "": must be a valid CIDR value`,
    ]);
    assertCauses(causesOf('x', 'NodePort'), [
      `Forbidden | ${path} | Forbidden: ${onlyLb}`,
      `Invalid | ${path} | Invalid value: "x": must be a valid CIDR value`,
    ]);
    const { object } = tester.create(annotated('10.0.0.0/8', 'LoadBalancer'));
    const old = { ...object, metadata: { ...object.metadata, annotations: { [key]: 'x' } } } as typeof object;
    assertCauses(tester.patch(old, { metadata: { labels: { a: 'b' } } }).causes, []);
    assertCauses(tester.patch(old, { metadata: { annotations: { [key]: 'y' } } }).causes, [
      `Invalid | ${path} | Invalid value: "y": must be a valid CIDR value`,
    ]);
  });

  it('refuse names that no host can have', () => {
    assertCauses(tester.create({ ...service({}), metadata: { name: '-a' } }).causes, [
      'Invalid | metadata.name | Invalid value: "-a": a lowercase RFC 1123 label',
    ]);
  });
});

describe('service changes', () => {
  it('keep the address', () => {
    const old = stored({});
    const fixed = 'may not change once set';
    assertCauses(tester.patch(old, { spec: { clusterIP: '10.0.0.8' } }).causes, [
      `Invalid | spec.clusterIPs[0] | Invalid value: ["10.0.0.8"]: ${fixed}`,
    ]);
    assertCauses(tester.patch(old, { spec: { clusterIP: 'None' } }).causes, [
      `Invalid | spec.clusterIPs[0] | Invalid value: ["None"]: ${fixed}`,
    ]);
    for (const spec of [{ clusterIP: null }, { clusterIP: null, clusterIPs: null }]) {
      const { object, causes } = tester.patch(old, { spec });
      assertCauses(causes, []);
      assert.deepEqual(object.spec, old.spec);
    }
  });

  it('keep node ports of the same port when the client leaves them out', () => {
    const old = stored({
      type: 'NodePort',
      ports: [
        { port: 80, name: 'a' },
        { port: 81, name: 'b' },
      ],
    });
    const { object } = tester.patch(old, {
      spec: {
        ports: [
          { port: 81, name: 'b' },
          { port: 82, name: 'c' },
        ],
      },
    });
    const nodePorts = (specOf(object).ports as { nodePort?: number }[]).map(({ nodePort }) => nodePort);
    assert.deepEqual(nodePorts, [30001, undefined]);
  });

  it('drop fields that the new type does not have', () => {
    const old = stored({ type: 'LoadBalancer', externalTrafficPolicy: 'Local', loadBalancerClass: 'a.b/c' });
    const inside = tester.patch(old, { spec: { type: 'ClusterIP', externalTrafficPolicy: null } });
    assertCauses(inside.causes, []);
    assert.deepEqual(inside.object.spec, {
      ...single,
      ports: [tcp80],
      sessionAffinity: 'None',
      type: 'ClusterIP',
      clusterIP: '10.0.0.9',
      clusterIPs: ['10.0.0.9'],
    });
    const alias = tester.patch(inside.object, { spec: { type: 'ExternalName', externalName: 'a.b' } });
    assertCauses(alias.causes, []);
    assert.deepEqual(alias.object.spec, {
      ports: [tcp80],
      sessionAffinity: 'None',
      type: 'ExternalName',
      externalName: 'a.b',
    });
    const back = tester.patch(alias.object, { spec: { type: 'ClusterIP', externalName: null } });
    assertCauses(back.causes, []);
    assert.deepEqual(back.object.spec, { ...single, ports: [tcp80], sessionAffinity: 'None', type: 'ClusterIP' });
  });

  it('lose the external policy with the last external address', () => {
    const old = stored({ externalIPs: ['1.2.3.4'] });
    assert.equal(specOf(old).externalTrafficPolicy, 'Cluster');
    const inside = tester.patch(old, { spec: { externalIPs: [] } });
    assertCauses(inside.causes, []);
    assert.equal(specOf(inside.object).externalTrafficPolicy, undefined);
    const alias = tester.patch(old, { spec: { type: 'ExternalName', externalName: 'a.b' } });
    assertCauses(alias.causes, []);
    assert.equal(specOf(alias.object).externalTrafficPolicy, undefined);
  });

  it('warn of addresses without effect at every write', () => {
    const warned = (spec: object) =>
      serviceWarnings(stored({ externalIPs: ['1.2.3.4'], ...spec }) as Service, testNames);
    assert.deepEqual(warned({ type: 'ExternalName', externalName: 'a.b' }), [
      'spec.externalIPs is ignored when spec.type is "ExternalName"',
    ]);
    assert.deepEqual(warned({}), ['spec.externalIPs is deprecated and may no longer be implemented in some clusters']);
  });

  it('keep the health check port and the class of a load balancer', () => {
    const old = stored({ type: 'LoadBalancer', externalTrafficPolicy: 'Local' });
    assert.equal(specOf(tester.patch(old, { spec: { healthCheckNodePort: null } }).object).healthCheckNodePort, 31000);
    assertCauses(tester.patch(old, { spec: { healthCheckNodePort: 31001 } }).causes, [
      'Forbidden | spec.healthCheckNodePort | Forbidden: field is immutable',
    ]);
    assertCauses(tester.patch(old, { spec: { loadBalancerClass: 'a' } }).causes, [
      'Invalid | spec.loadBalancerClass | Invalid value: "a": may not change once set',
    ]);
  });

  it('check reported load balancers', () => {
    const old = stored({ type: 'LoadBalancer' });
    const status = (...ingress: object[]) => ({ status: { loadBalancer: { ingress } } });
    const given = tester.patch(old, status({ ip: '1.2.3.4' }, { hostname: 'a.b' }), 'status');
    assertCauses(given.causes, []);
    assert.deepEqual(given.object.status, {
      loadBalancer: { ingress: [{ ip: '1.2.3.4', ipMode: 'VIP' }, { hostname: 'a.b' }] },
    });
    const at = 'status.loadBalancer.ingress';
    assertCauses(tester.patch(old, status({ ip: 'x', ipMode: 'Odd' }, { hostname: '1.2.3.4' }), 'status').causes, [
      `Invalid | ${at}[0].ip | Invalid value: "x": must be a valid IP address`,
      `NotSupported | ${at}[0].ipMode | Unsupported value: "Odd"`,
      `Invalid | ${at}[1].hostname | Invalid value: "1.2.3.4": must be a DNS name, not an IP address`,
    ]);
    assertCauses(tester.patch(stored({}), status({ ip: '1.2.3.4' }), 'status').causes, [
      `Forbidden | ${at} | Forbidden: may only be used when`,
    ]);
  });
});

describe('service tables', () => {
  const shown = (spec: object, ingress: object[] = []) => {
    const object = stored(spec);
    object.status = { loadBalancer: { ingress } };
    return tester.cells(object).slice(1);
  };
  it('show types, addresses and ports', () => {
    const two = [
      { port: 80, name: 'a' },
      { port: 53, protocol: 'UDP', name: 'b' },
    ];
    const address = '10.0.0.9';
    assert.deepEqual(shown({ ports: two, selector: { b: '1', a: '2' } }), [
      'ClusterIP',
      address,
      '<none>',
      '80/TCP,53/UDP',
      '0s',
      'a=2,b=1',
    ]);
    assert.deepEqual(shown({ type: 'NodePort' }).slice(0, 4), ['NodePort', address, '<none>', '80:30000/TCP']);
    assert.equal(shown({ externalIPs: ['1.1.1.1', '1.1.1.2'] })[2], '1.1.1.1,1.1.1.2');
    assert.equal(shown({ type: 'LoadBalancer' })[2], '<pending>');
    assert.equal(shown({ type: 'LoadBalancer' }, [{ ip: '1.2.3.4' }, { hostname: 'a.b' }])[2], '1.2.3.4,a.b');
    const alias = ['ExternalName', '<none>', 'a.b', '<none>', '0s', '<none>'];
    assert.deepEqual(shown({ type: 'ExternalName', externalName: 'a.b', ports: [] }), alias);
    assert.equal(shown({ clusterIP: 'None' })[1], 'None');
  });
});
