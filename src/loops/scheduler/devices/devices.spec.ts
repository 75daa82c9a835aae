import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { devicesOf } from '../filters/dynamic-resources.js';
import type { NodeInfo } from '../node-info.js';
import { placement, sampleCluster, samplePod } from '../testing/sample-cluster.js';
import { driver, type SampleDevices, sampleClaim, sampleDevices, sampleSlice } from '../testing/sample-devices.js';
import { DeviceFault } from './device-fault.js';
import type { PlannedClaim } from './pod-devices.js';

const exactly = (rest: object = {}, name = 'r') => ({
  name,
  exactly: { deviceClassName: 'gpu', allocationMode: 'ExactCount', count: 1, ...rest },
});
const all = (rest: object = {}, name = 'r') => exactly({ allocationMode: 'All', count: 0, ...rest }, name);
const model = (text: string) => ({ attributes: { model: { string: text } } });
const having = (text: string) => ({
  selectors: [{ cel: { expression: `device.attributes["${driver}"].model == "${text}"` } }],
});

/** A pod in a cluster of the nodes a and b. */
function scene(objects: SampleDevices, claims: readonly string[], spec: object = {}, status: object = {}) {
  const cluster = sampleCluster(
    { a: {}, b: {} },
    { devices: sampleDevices(objects), now: () => Date.parse('2030-01-01T00:00:00Z') },
  );
  const resourceClaims = claims.map((resourceClaimName, i) => ({ name: `c${i}`, resourceClaimName }));
  const pod = samplePod({ name: 'p', resourceClaims, status, ...spec });
  return {
    place: () => placement(pod, cluster),
    plan: (node: string) => devicesOf(pod, cluster)?.planFor(cluster.node(node) as NodeInfo),
    refusal: (node: string) => {
      try {
        return devicesOf(pod, cluster)?.refusalOn(cluster.node(node) as NodeInfo);
      } catch (error) {
        if (error instanceof DeviceFault) return error.message;
        throw error;
      }
    },
  };
}

/** The devices of each claim on a node: `request=pool/device`. */
function given(objects: SampleDevices, claims: readonly string[], node = 'a'): unknown {
  const { plan, refusal } = scene(objects, claims);
  const reason = refusal(node);
  if (reason !== undefined) return reason;
  return plan(node)?.claims.map(({ allocation }: PlannedClaim) =>
    (allocation?.devices.results ?? []).map(({ request, pool, device }) => `${request}=${pool}/${device}`),
  );
}

describe('devices', () => {
  const two = sampleSlice('a', [
    { name: 'd0', ...model('x') },
    { name: 'd1', ...model('y') },
  ]);

  it('are those that class and request select, on a node that has them', () => {
    const wanted = { slices: [two], claims: [sampleClaim('one', [exactly(having('y'))])] };
    assert.deepEqual(given(wanted, ['one']), [['r=a/d1']]);
    assert.equal(given(wanted, ['one'], 'b'), 'cannot allocate all claims');
    assert.equal(scene(wanted, ['one']).place(), 'a');
    const narrowed = { ...wanted, classes: { gpu: having('x') } };
    assert.equal(scene(narrowed, ['one']).place(), '0/2 nodes are available: 2 cannot allocate all claims.');
    assert.deepEqual(given({ ...narrowed, claims: [sampleClaim('one', [exactly()])] }, ['one']), [['r=a/d0']]);
  });

  it('are counted, and never given twice', () => {
    const pair = {
      slices: [two],
      claims: [sampleClaim('one', [exactly({ count: 2 })]), sampleClaim('more', [exactly()])],
    };
    assert.deepEqual(given(pair, ['one']), [['r=a/d0', 'r=a/d1']]);
    assert.equal(given(pair, ['one', 'more']), 'cannot allocate all claims');
    const results = [{ request: 'r', driver, pool: 'a', device: 'd0' }];
    const taken = sampleClaim('taken', [exactly()], {}, { allocation: { devices: { results } } });
    assert.deepEqual(given({ slices: [two], claims: [taken, sampleClaim('one', [exactly()])] }, ['one']), [['r=a/d1']]);
    const admin = sampleClaim('one', [exactly({ adminAccess: true })]);
    assert.deepEqual(given({ slices: [two], claims: [taken, admin] }, ['one']), [['r=a/d0']]);
    assert.equal(
      given({ slices: [two], claims: [sampleClaim('one', [exactly({ count: 33 })])] }, ['one']),
      'claim ns/one, request r: adding 33 devices exceeds the claim limit of 32, with 0 already accounted for',
    );
  });

  it('go back to earlier choices when later requests find nothing', () => {
    const claims = [sampleClaim('one', [exactly({}, 'any'), exactly(having('x'), 'x')])];
    assert.deepEqual(given({ slices: [two], claims }, ['one']), [['any=a/d1', 'x=a/d0']]);
  });

  it('are all that match, from pools that are complete', () => {
    const claims = [sampleClaim('one', [all()])];
    assert.deepEqual(given({ slices: [two], claims }, ['one']), [['r=a/d0', 'r=a/d1']]);
    assert.equal(
      given({ slices: [two], claims: [sampleClaim('one', [all(having('z'))])] }, ['one']),
      'cannot allocate all claims',
    );
    const partial = sampleSlice('a', [{ name: 'd0' }], { pool: { name: 'a', generation: 1, resourceSliceCount: 2 } });
    assert.equal(
      given({ slices: [partial], claims }, ['one']),
      'claim ns/one, request r: asks for all devices, but resource pool gpu.example.com/a is currently being updated',
    );
    assert.equal(
      given({ slices: [partial], claims: [sampleClaim('one', [exactly()])] }, ['one']),
      'cannot allocate all claims',
    );
    const newer = {
      ...(sampleSlice('new', [{ name: 'd9' }]) as object),
      spec: {
        ...(sampleSlice('a', [{ name: 'd9' }]) as { spec: object }).spec,
        pool: { name: 'a', generation: 2, resourceSliceCount: 1 },
      },
    };
    assert.deepEqual(given({ slices: [two, newer], claims }, ['one']), [['r=a/d9']]);
    const twins = sampleSlice('a', [{ name: 'd0' }, { name: 'd0' }]);
    assert.equal(
      given({ slices: [twins], claims: [sampleClaim('one', [exactly()])] }, ['one']),
      'invalid resource pools were encountered',
    );
  });

  it('agree in an attribute, or differ in it', () => {
    const numa = (name: string, int: number) => ({ name, attributes: { [`${driver}/numa`]: { int } } });
    const slices = [sampleSlice('a', [numa('d0', 0), numa('d1', 1), numa('d2', 1)])];
    const bound = (constraint: object, requests = [exactly({ count: 2 })]) =>
      given({ slices, claims: [sampleClaim('one', requests, { constraints: [constraint] })] }, ['one']);
    assert.deepEqual(bound({ matchAttribute: `${driver}/numa` }), [['r=a/d1', 'r=a/d2']]);
    assert.deepEqual(bound({ distinctAttribute: `${driver}/numa` }), [['r=a/d0', 'r=a/d1']]);
    assert.equal(bound({ matchAttribute: 'other.example.com/numa' }), 'cannot allocate all claims');
    const other = [exactly({}, 'q'), exactly({ count: 2 })];
    assert.deepEqual(bound({ matchAttribute: `${driver}/numa`, requests: ['r'] }, other), [
      ['q=a/d0', 'r=a/d1', 'r=a/d2'],
    ]);
  });

  it('are those of the first alternative that is possible', () => {
    const firstAvailable = [
      { name: 'best', deviceClassName: 'gpu', allocationMode: 'ExactCount', count: 3 },
      { name: 'good', deviceClassName: 'gpu', allocationMode: 'ExactCount', count: 1, ...having('y') },
    ];
    const config = [
      { requests: ['r/good'], opaque: { driver, parameters: { a: 1 } } },
      { requests: ['r/best'], opaque: { driver, parameters: { a: 2 } } },
    ];
    const objects = {
      slices: [two],
      claims: [sampleClaim('one', [{ name: 'r', firstAvailable }], { config })],
      classes: { gpu: { config: [{ opaque: { driver, parameters: {} } }] } },
    };
    assert.deepEqual(given(objects, ['one']), [['r/good=a/d1']]);
    const [planned] = scene(objects, ['one']).plan('a')?.claims ?? [];
    assert.deepEqual(planned?.allocation, {
      devices: {
        results: [{ request: 'r/good', driver, pool: 'a', device: 'd1' }],
        config: [
          { source: 'FromClass', opaque: { driver, parameters: {} } },
          { source: 'FromClaim', opaque: { driver, parameters: { a: 1 } } },
        ],
      },
      nodeSelector: { nodeSelectorTerms: [{ matchFields: [{ key: 'metadata.name', operator: 'In', values: ['a'] }] }] },
    });
    // The node with the better alternative is chosen.
    const b = sampleSlice(
      'b',
      ['d0', 'd1', 'd2'].map((name) => ({ name })),
    );
    assert.equal(scene({ ...objects, slices: [two, b] }, ['one']).place(), 'b');
  });

  it('with taints are for those who tolerate them', () => {
    const taints = [{ key: 'broken', value: 'fan', effect: 'NoSchedule' }];
    const slices = [
      sampleSlice('a', [
        { name: 'd0', taints },
        { name: 'd1', taints: [{ key: 'k', effect: 'None' }] },
      ]),
    ];
    const plain = [sampleClaim('one', [exactly()])];
    assert.deepEqual(given({ slices, claims: plain }, ['one']), [['r=a/d1']]);
    const tolerations = [{ key: 'broken', operator: 'Equal', value: 'fan', effect: 'NoSchedule' }];
    assert.deepEqual(given({ slices, claims: [sampleClaim('one', [exactly({ tolerations })])] }, ['one']), [
      ['r=a/d0'],
    ]);
    const rules = [
      { spec: { deviceSelector: { driver, device: 'd1' }, taint: { key: 'x', effect: 'NoExecute' } } },
      { spec: { taint: { key: 'for-none', effect: 'NoExecute' } } },
    ];
    assert.equal(given({ slices, rules, claims: plain }, ['one']), 'cannot allocate all claims');
  });

  it('share counters of their pool', () => {
    const consumes = (value: string) => [{ counterSet: 'set', counters: { memory: { value } } }];
    const part = (name: string, value: string) => ({ name, consumesCounters: consumes(value) });
    const pool = { name: 'a', generation: 1, resourceSliceCount: 2 };
    const counters = {
      ...sampleSlice('a-counters', []),
      spec: { driver, pool, nodeName: 'a', sharedCounters: [{ name: 'set', counters: { memory: { value: '8Gi' } } }] },
    };
    const slices = [
      counters,
      sampleSlice('a', [part('whole', '8Gi'), part('left', '4Gi'), part('right', '4Gi')], { pool }),
    ];
    const claims = [sampleClaim('one', [exactly({ count: 2 })])];
    assert.deepEqual(given({ slices, claims }, ['one']), [['r=a/left', 'r=a/right']]);
    const results = [{ request: 'r', driver, pool: 'a', device: 'left' }];
    const taken = sampleClaim('taken', [exactly()], {}, { allocation: { devices: { results } } });
    assert.equal(given({ slices, claims: [...claims, taken] }, ['one']), 'cannot allocate all claims');
    assert.deepEqual(given({ slices, claims: [sampleClaim('one', [exactly()]), taken] }, ['one']), [['r=a/right']]);
    assert.equal(
      given({ slices: [sampleSlice('a', [part('d', '1')])], claims }, ['one']),
      'invalid resource pools were encountered',
    );
  });

  it('are shared by what claims take of their capacity, in the steps of its policy', () => {
    const requestPolicy = { default: '1Gi', validRange: { min: '1Gi', step: '2Gi', max: '7Gi' } };
    const device = {
      name: 'd0',
      allowMultipleAllocations: true,
      capacity: { memory: { value: '8Gi', requestPolicy } },
    };
    const slices = [sampleSlice('a', [device])];
    const wants = (memory?: string) => exactly(memory === undefined ? {} : { capacity: { requests: { memory } } });
    const results = [
      { request: 'r', driver, pool: 'a', device: 'd0', shareID: 'x', consumedCapacity: { memory: '5Gi' } },
    ];
    const taken = sampleClaim('taken', [wants('5Gi')], {}, { allocation: { devices: { results } } });
    const taken1 = (memory?: string) => {
      const { plan, refusal } = scene({ slices, claims: [taken, sampleClaim('one', [wants(memory)])] }, ['one']);
      const [result] = refusal('a') === undefined ? (plan('a')?.claims[0]?.allocation?.devices.results ?? []) : [];
      return result && [result.device, typeof result.shareID, result.consumedCapacity];
    };
    assert.deepEqual(taken1(), ['d0', 'string', { memory: '1Gi' }]);
    assert.deepEqual(taken1('2Gi'), ['d0', 'string', { memory: '3Gi' }]);
    assert.equal(taken1('4Gi'), undefined, 'rounded up to 5Gi, more than what is left');
    const unknown = exactly({ capacity: { requests: { cores: '1' } } });
    assert.equal(given({ slices, claims: [sampleClaim('one', [unknown])] }, ['one']), 'cannot allocate all claims');
  });

  it('are found by node selectors of slices and devices', () => {
    const nodeSelector = {
      nodeSelectorTerms: [{ matchExpressions: [{ key: 'kubernetes.io/hostname', operator: 'In', values: ['b'] }] }],
    };
    const claims = [sampleClaim('one', [exactly()])];
    const shared = sampleSlice('net', [{ name: 'd0' }], { nodeName: undefined, nodeSelector });
    assert.equal(scene({ slices: [shared], claims }, ['one']).place(), 'b');
    assert.deepEqual(
      scene({ slices: [shared], claims }, ['one']).plan('b')?.claims[0]?.allocation?.nodeSelector,
      nodeSelector,
    );
    const each = sampleSlice(
      'net',
      [
        { name: 'd0', nodeName: 'a' },
        { name: 'd1', allNodes: true },
      ],
      { nodeName: undefined, perDeviceNodeSelection: true },
    );
    assert.deepEqual(given({ slices: [each], claims }, ['one'], 'b'), [['r=net/d1']]);
    const everywhere = sampleSlice('net', [{ name: 'd0' }], { nodeName: undefined, allNodes: true });
    assert.equal(
      scene({ slices: [everywhere], claims }, ['one']).plan('b')?.claims[0]?.allocation?.nodeSelector,
      undefined,
    );
    const binding = sampleSlice('net', [{ name: 'd0', bindsToNode: true }], { nodeName: undefined, allNodes: true });
    const terms = scene({ slices: [binding], claims }, ['one']).plan('b')?.claims[0]?.allocation?.nodeSelector;
    assert.deepEqual(terms?.nodeSelectorTerms?.[0]?.matchFields?.[0]?.values, ['b']);
  });

  it('keep a pod waiting, and say why', () => {
    const claim = (rest: object, status: object = {}) => ({ ...sampleClaim('one', [exactly()], {}, status), ...rest });
    const why = (objects: SampleDevices, names = ['one']) => scene({ slices: [two], ...objects }, names).place();
    const none = (text: string) => `0/2 nodes are available: ${text}.`;
    assert.equal(why({}), none('resourceclaim.resource.kubernetes.io "one" not found'));
    const deleted = claim({ metadata: { name: 'one', namespace: 'ns', uid: 'one', deletionTimestamp: 'x' } });
    assert.equal(why({ claims: [deleted] }), none('resourceclaim "one" is being deleted'));
    const unknown = sampleClaim('one', [exactly({ deviceClassName: 'tpu' })]);
    assert.equal(why({ claims: [unknown] }), none('request r: device class tpu does not exist'));
    const reservedFor = Array.from({ length: 256 }, (_, i) => ({ resource: 'pods', name: `p${i}`, uid: `${i}` }));
    const inUse = claim({}, { allocation: { devices: {} }, reservedFor });
    assert.equal(why({ claims: [inUse] }), none('resourceclaim in use'));
    const elsewhere = {
      nodeSelectorTerms: [{ matchFields: [{ key: 'metadata.name', operator: 'In', values: ['c'] }] }],
    };
    const far = claim({}, { allocation: { devices: {}, nodeSelector: elsewhere } });
    assert.equal(why({ claims: [far] }), none('2 resourceclaim not available on the node'));
    const broken = sampleClaim('one', [
      exactly({ selectors: [{ cel: { expression: 'device.attributes["none"].x == 1' } }] }),
    ]);
    assert.match(
      why({ claims: [broken] }),
      /^0\/2 nodes are available: claim ns\/one: selector #0 on device gpu\.example\.com\/a\/d0: CEL runtime error: /,
    );
    // A fault of the claim is not hidden by a node whose devices do not show it.
    const onlyThere = sampleClaim('one', [
      exactly({ selectors: [{ cel: { expression: `device.attributes["${driver}"].model != "z"` } }] }),
    ]);
    const slices = [sampleSlice('a', [{ name: 'd0' }]), sampleSlice('b', [{ name: 'd1', ...model('x') }])];
    assert.match(
      why({ claims: [onlyThere], slices }),
      /^0\/2 nodes are available: claim ns\/one: selector #0 on device gpu\.example\.com\/a\/d0: CEL runtime error: no such key: model\. consider /,
    );
    const template = { resourceClaims: [{ name: 'c', resourceClaimTemplateName: 't' }] };
    assert.equal(scene({}, [], template).place(), none('pod "ns/p": ResourceClaim not created yet'));
    const made = { resourceClaimStatuses: [{ name: 'c', resourceClaimName: 'one' }] };
    assert.equal(
      scene({ claims: [claim({})] }, [], template, made).place(),
      none('ResourceClaim ns/one was not created for Pod ns/p (Pod is not owner)'),
    );
    assert.equal(scene({}, [], template, { resourceClaimStatuses: [{ name: 'c' }] }).place().length, 1);
  });

  it('that must be prepared come last, and free a claim when that fails', () => {
    const slow = { name: 'd0', bindingConditions: ['ready'], bindingFailureConditions: ['broken'] };
    const slices = [
      sampleSlice('a', [slow], { pool: { name: 'a0', generation: 1, resourceSliceCount: 1 } }),
      sampleSlice('b', [{ name: 'd1' }], { nodeName: 'a' }),
    ];
    assert.deepEqual(given({ slices, claims: [sampleClaim('one', [exactly()])] }, ['one']), [['r=b/d1']]);
    const results = [
      {
        request: 'r',
        driver,
        pool: 'a0',
        device: 'd0',
        bindingConditions: ['ready'],
        bindingFailureConditions: ['broken'],
      },
    ];
    const status = (condition: string, since = '2029-12-31T23:59:00Z') => ({
      allocation: { devices: { results }, allocationTimestamp: since },
      devices: [{ driver, pool: 'a0', device: 'd0', conditions: [{ type: condition, status: 'True' }] }],
    });
    const why = (state: object) =>
      scene({ slices, claims: [sampleClaim('one', [exactly()], {}, state)] }, ['one']).refusal('a');
    assert.equal(why(status('ready')), undefined);
    assert.equal(why(status('other')), undefined, 'it may still become ready');
    assert.equal(why(status('broken')), 'resourceclaim not available on the node');
    assert.equal(why(status('other', '2029-12-31T23:00:00Z')), 'resourceclaim not available on the node');
  });

  it('stand for extended resources of classes on nodes that do not have them', () => {
    const classes = { gpu: { extendedResourceName: 'example.com/gpu' } };
    const requests = { 'example.com/gpu': '1' };
    const containers = [
      { name: 'c', resources: { requests } },
      { name: 'd', resources: { requests: { cpu: '1', ...requests } } },
    ];
    const initContainers = [{ name: 'i', resources: { requests: { 'example.com/gpu': '2' } } }];
    const { place, plan } = scene({ classes, slices: [two] }, [], { containers, initContainers });
    assert.equal(place(), 'a');
    const { extension } = plan('a') ?? {};
    assert.deepEqual(
      extension?.requests.map(({ name, exactly: one }) => [name, one?.count]),
      [
        ['container-1-request-0', 1],
        ['container-2-request-1', 1],
      ],
    );
    assert.deepEqual(
      extension?.mappings.map(({ containerName, requestName }) => [containerName, requestName]),
      [
        ['c', 'container-1-request-0'],
        ['d', 'container-2-request-1'],
        ['i', 'container-1-request-0'],
        ['i', 'container-2-request-1'],
      ],
    );
    assert.equal(extension?.allocation.devices.results?.length, 2);
    const own = sampleCluster(
      { a: {}, b: { allocatable: { 'example.com/gpu': '4' } } },
      { devices: sampleDevices({ classes }) },
    );
    assert.equal(placement(samplePod({ containers }), own), 'b');
  });
});
