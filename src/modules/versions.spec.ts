import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { registeredGroups } from '../../test/support/registered-groups.js';
import type { ApiObject } from '../base/machinery/api-object.js';
import { decode } from '../base/machinery/schema/index.js';
import { isStoredKind } from '../objects/registry/resource-definition.js';
import type { ServedResource } from '../objects/registry/resource-registry.js';
import { toServed, toStored } from '../objects/registry/store/object-codec.js';

type Sample = Readonly<Record<string, unknown>>;

const time = '2030-01-01T00:00:00Z';
const microTime = '2030-01-01T00:00:00.000001Z';
const scaleTargetRef = { kind: 'Deployment', name: 'n', apiVersion: 'apps/v1' };
const cpu = { type: 'Resource', resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: 70 } } };
const jobTemplate = {
  metadata: { labels: { a: 'b' } },
  spec: { template: { spec: { containers: [{ name: 'c', image: 'i' }], restartPolicy: 'Never' } } },
};
const cronJob: Sample = {
  spec: { schedule: '* * * * *', startingDeadlineSeconds: 3, timeZone: 'Etc/UTC', suspend: true, jobTemplate },
  status: { lastScheduleTime: time, active: [{ kind: 'Job', name: 'j' }] },
};
const certificate: Sample = {
  spec: { request: 'YQ==', usages: ['client auth'], username: 'u', groups: ['g'], extra: { e: ['1'] } },
  status: { certificate: 'YQ==', conditions: [{ type: 'Approved', status: 'True', lastUpdateTime: time }] },
};
const webhooks = [
  {
    name: 'a.b.c',
    clientConfig: { service: { name: 's', namespace: 'n', port: 9 }, caBundle: 'YQ==' },
    rules: [{ operations: ['CREATE'], apiGroups: [''], apiVersions: ['v1'], resources: ['pods'], scope: '*' }],
    matchConditions: [{ name: 'm', expression: 'true' }],
    namespaceSelector: { matchLabels: { a: 'b' } },
    sideEffects: 'None',
    timeoutSeconds: 3,
    admissionReviewVersions: ['v1'],
  },
];
const claimRequests = [
  {
    name: 'r',
    exactly: {
      deviceClassName: 'c',
      selectors: [{ cel: { expression: 'true' } }],
      allocationMode: 'ExactCount',
      count: 2,
      adminAccess: true,
      tolerations: [{ key: 'k', operator: 'Exists' }],
      capacity: { requests: { memory: '1Gi' } },
    },
  },
  { name: 's', firstAvailable: [{ name: 'a', deviceClassName: 'c', allocationMode: 'All' }] },
];
const devices = { requests: claimRequests, constraints: [{ requests: ['r'], matchAttribute: 'd.example.com/numa' }] };
const betaDevices = {
  ...devices,
  requests: [
    { name: 'r', ...claimRequests[0]?.exactly },
    { ...claimRequests[1], deviceClassName: '' },
  ],
};
const claimStatus = { reservedFor: [{ resource: 'pods', name: 'p', uid: 'u' }] };
const sliceSpec = { driver: 'd.example.com', pool: { name: 'p', generation: 1, resourceSliceCount: 1 }, nodeName: 'n' };
const deviceFacts = {
  attributes: { model: { string: 'm' }, numa: { int: 1 } },
  capacity: { memory: { value: '1Gi' } },
  taints: [{ key: 'k', effect: 'NoSchedule', timeAdded: time }],
};
const deviceTaint: Sample = {
  spec: { deviceSelector: { driver: 'd' }, taint: { key: 'k', value: 'v', effect: 'NoExecute', timeAdded: time } },
};
const deviceClass: Sample = {
  spec: { selectors: [{ cel: { expression: 'true' } }], extendedResourceName: 'example.com/gpu' },
};
const slice: Sample = { spec: { ...sliceSpec, devices: [{ name: 'd', ...deviceFacts }] } };
const candidate: Sample = {
  spec: { leaseName: 'l', binaryVersion: '1.2.3', strategy: 'OldestEmulationVersion', renewTime: microTime },
};
const podCertificate = {
  spec: {
    signerName: 'a.b/c',
    podName: 'p',
    podUID: 'u',
    serviceAccountName: 's',
    serviceAccountUID: 'v',
    nodeName: 'n',
    nodeUID: 'w',
    maxExpirationSeconds: 3600,
    stubPKCS10Request: 'YQ==',
    unverifiedUserAnnotations: { 'a.b/c': 'd' },
  },
  status: { certificateChain: 'c', notBefore: time },
};
const podGroup: Sample = {
  spec: { schedulingPolicy: { gang: { minCount: 2 } }, disruptionMode: { single: {} }, priority: 3 },
};
const workload: Sample = {
  spec: { podGroupTemplates: [{ name: 't', schedulingPolicy: { basic: {} } }] },
};
const mutation: Sample = {
  spec: {
    matchConstraints: {
      resourceRules: [{ operations: ['CREATE'], apiGroups: [''], apiVersions: ['v1'], resources: ['pods'] }],
    },
    mutations: [{ patchType: 'JSONPatch', jsonPatch: { expression: '[]' } }],
    reinvocationPolicy: 'Never',
  },
};
const mutationBinding: Sample = { spec: { policyName: 'p' } };
const migration: Sample = { spec: { resource: { group: 'g', resource: 'r' } }, status: { resourceVersion: '3' } };
const bundle: Sample = { spec: { signerName: 'a.b/c', trustBundle: 't' } };
const budgetStatus = { disruptionsAllowed: 1, expectedPods: 2, disruptedPods: { p: time } };

/**
 * Bodies that cover everything that a version represents in its own way, by resource and version. They leave out what
 * older versions can't express: v1 autoscalers show the target for cpu last, their statuses show an absent average as
 * 0, and older slices have the hostname label on every endpoint of a node.
 */
const samples: Readonly<Record<string, Readonly<Record<string, readonly Sample[]>>>> = {
  'horizontalpodautoscalers.autoscaling': {
    v2: [
      {
        metadata: { annotations: { own: 'x' } },
        spec: {
          scaleTargetRef,
          maxReplicas: 9,
          metrics: [
            { type: 'Pods', pods: { metric: { name: 'm' }, target: { type: 'AverageValue', averageValue: '9' } } },
            // A second metric for cpu: v1 has a field for only one.
            { ...cpu, resource: { ...cpu.resource, target: { type: 'AverageValue', averageValue: '100m' } } },
            cpu,
          ],
          behavior: {
            scaleUp: { tolerance: '0.1', policies: [{ type: 'Pods', value: 4, periodSeconds: 15 }] },
            scaleDown: { selectPolicy: 'Disabled', stabilizationWindowSeconds: 0 },
          },
        },
        status: {
          currentReplicas: 2,
          desiredReplicas: 3,
          lastScaleTime: time,
          observedGeneration: 7,
          currentMetrics: [
            { type: 'Resource', resource: { name: 'cpu', current: { averageUtilization: 3, averageValue: '30m' } } },
          ],
          conditions: [{ type: 'AbleToScale', status: 'True', reason: 'r', lastTransitionTime: time }],
        },
      },
      { spec: { scaleTargetRef, maxReplicas: 9, metrics: [cpu, cpu] } },
      { spec: { scaleTargetRef, maxReplicas: 9 } },
    ],
    v1: [
      { spec: { scaleTargetRef, minReplicas: 2, maxReplicas: 9, targetCPUUtilizationPercentage: 33 } },
      { metadata: { annotations: { own: 'x' } }, spec: { scaleTargetRef, maxReplicas: 9 } },
    ],
    v2beta1: [
      {
        spec: {
          scaleTargetRef,
          maxReplicas: 9,
          metrics: [
            { type: 'External', external: { metricName: 'm', targetValue: '3', metricSelector: { matchLabels: {} } } },
            { type: 'Resource', resource: { name: 'cpu', targetAverageUtilization: 30 } },
          ],
        },
      },
    ],
    v2beta2: [{ spec: { scaleTargetRef, maxReplicas: 9, metrics: [cpu], behavior: { scaleUp: {} } } }],
  },
  'cronjobs.batch': { v1: [cronJob], v1beta1: [cronJob] },
  'certificatesigningrequests.certificates.k8s.io': {
    v1: [{ ...certificate, spec: { ...(certificate.spec as object), signerName: 'a.b/c', expirationSeconds: 700 } }],
    v1beta1: [certificate],
  },
  'poddisruptionbudgets.policy': {
    v1: [
      { spec: { minAvailable: 1, selector: {} }, status: budgetStatus },
      { spec: { maxUnavailable: '10%', unhealthyPodEvictionPolicy: 'AlwaysAllow' } },
    ],
    v1beta1: [{ spec: { selector: {} }, status: budgetStatus }, { spec: { selector: { matchLabels: { a: 'b' } } } }],
  },
  'mutatingwebhookconfigurations.admissionregistration.k8s.io': {
    v1: [{ webhooks: [{ ...webhooks[0], reinvocationPolicy: 'IfNeeded' }] }],
    v1beta1: [{ webhooks: [{ ...webhooks[0], sideEffects: 'Unknown', failurePolicy: 'Ignore' }] }],
  },
  'validatingwebhookconfigurations.admissionregistration.k8s.io': { v1: [{ webhooks }], v1beta1: [{ webhooks }] },
  'endpointslices.discovery.k8s.io': {
    v1: [
      {
        addressType: 'IPv4',
        endpoints: [
          { addresses: ['1.2.3.4'], zone: 'z', nodeName: 'n', hints: { forZones: [{ name: 'z' }] } },
          { addresses: ['1.2.3.5'], nodeName: 'n', deprecatedTopology: { 'kubernetes.io/hostname': 'other', a: 'b' } },
          { addresses: ['1.2.3.6'], hostname: 'h', conditions: { ready: false } },
        ],
        ports: [{ port: 80, appProtocol: 'a/b' }],
      },
      { addressType: 'FQDN' },
    ],
    v1beta1: [
      {
        addressType: 'IPv4',
        endpoints: [
          {
            addresses: ['1.2.3.4'],
            nodeName: 'n',
            topology: { 'topology.kubernetes.io/zone': 'z', 'kubernetes.io/hostname': 'n', rack: 'r' },
          },
          { addresses: ['1.2.3.5'], topology: { 'kubernetes.io/hostname': 'n' } },
          { addresses: ['1.2.3.6'] },
        ],
        ports: [{}],
      },
    ],
  },
  events: {
    v1: [
      {
        involvedObject: { kind: 'Pod', name: 'p', namespace: 'default' },
        message: 'm',
        source: { component: 'c', host: 'h' },
        firstTimestamp: time,
        lastTimestamp: time,
        count: 2,
        eventTime: microTime,
        reportingComponent: 'a.b/c',
        related: { kind: 'Node', name: 'n' },
      },
      {},
    ],
  },
  'events.events.k8s.io': {
    v1: [
      {
        regarding: { kind: 'Pod' },
        note: 'm',
        eventTime: microTime,
        reportingController: 'a.b/c',
        reportingInstance: 'i',
        deprecatedSource: { component: 'c' },
        deprecatedFirstTimestamp: time,
        deprecatedCount: 3,
        series: { count: 3, lastObservedTime: microTime },
      },
    ],
    v1beta1: [{ regarding: { kind: 'Pod' }, note: 'm', deprecatedLastTimestamp: time }],
  },
  'mutatingadmissionpolicies.admissionregistration.k8s.io': {
    v1: [mutation],
    v1beta1: [mutation],
    v1alpha1: [mutation],
  },
  'mutatingadmissionpolicybindings.admissionregistration.k8s.io': {
    v1: [mutationBinding],
    v1beta1: [mutationBinding],
    v1alpha1: [mutationBinding],
  },
  'clustertrustbundles.certificates.k8s.io': { v1: [bundle], v1beta1: [bundle] },
  'podcertificaterequests.certificates.k8s.io': {
    v1beta1: [podCertificate],
    v1: [podCertificate],
  },
  'leasecandidates.coordination.k8s.io': { v1beta1: [candidate], v1alpha2: [candidate] },
  'deviceclasses.resource.k8s.io': { v1: [deviceClass], v1beta2: [deviceClass], v1beta1: [deviceClass] },
  'devicetaintrules.resource.k8s.io': { v1: [deviceTaint], v1beta2: [deviceTaint], v1alpha3: [deviceTaint] },
  'resourceclaims.resource.k8s.io': {
    v1: [{ spec: { devices }, status: claimStatus }],
    v1beta2: [{ spec: { devices }, status: claimStatus }],
    v1beta1: [{ spec: { devices: betaDevices }, status: claimStatus }],
  },
  'resourceclaimtemplates.resource.k8s.io': {
    v1: [{ spec: { spec: { devices } } }],
    v1beta2: [{ spec: { spec: { devices } } }],
    v1beta1: [{ spec: { spec: { devices: betaDevices } } }],
  },
  'resourceslices.resource.k8s.io': {
    v1: [slice],
    v1beta2: [slice],
    v1beta1: [{ spec: { ...sliceSpec, devices: [{ name: 'd', basic: deviceFacts }] } }],
  },
  'podgroups.scheduling.k8s.io': { v1beta1: [podGroup], v1alpha3: [podGroup] },
  'workloads.scheduling.k8s.io': { v1beta1: [workload], v1alpha3: [workload] },
  'storageversionmigrations.storagemigration.k8s.io': { v1: [migration], v1beta1: [migration] },
};

const { registry } = await registeredGroups();
const views = new Map<string, ServedResource[]>();
for (const { group, resource, versions } of registry.definitions()) {
  for (const { version } of versions) {
    const view = registry.find(group, version, resource) as ServedResource;
    views.set(view.storageResource, [...(views.get(view.storageResource) ?? []), view]);
  }
}
const severalViews = [...views.values()].filter((list) => list.length > 1);

function samplesOf({ definition, served }: ServedResource): readonly Sample[] | undefined {
  const { group, resource } = definition;
  return samples[group === '' ? resource : `${resource}.${group}`]?.[served.version];
}

/** A body in the form in which the server converts it. */
function canonical({ served, definition }: ServedResource, body: Sample): ApiObject {
  const metadata = {
    name: 'a',
    ...(definition.namespaced ? { namespace: 'default' } : {}),
    ...(body.metadata as object),
  };
  const { value, unknownFields } = decode(served.type, { ...body, metadata });
  assert.deepEqual(unknownFields, [], 'the sample does not fit the declaration');
  const object = value as ApiObject;
  served.applyDefaults?.(object);
  if (isStoredKind(definition) && served === definition.versions[0]) definition.strategy.applyDefaults?.(object);
  return object;
}

describe('versions of a kind', () => {
  it('have a sample each', () => {
    assert.ok(severalViews.length >= 8);
    const missing = severalViews.flat().filter((view) => samplesOf(view) === undefined);
    assert.deepEqual(
      missing.map(({ apiVersion, definition }) => `${apiVersion} ${definition.kind}`),
      [],
      'add samples of these versions to `samples` in src/modules/versions.spec.ts',
    );
  });

  for (const all of severalViews) {
    for (const written of all) {
      for (const [index, body] of (samplesOf(written) ?? []).entries()) {
        const title = `${written.apiVersion} ${written.definition.kind}, sample ${index + 1}`;
        it(`${title}: reads back unchanged`, () => {
          const object = canonical(written, body);
          const stored = toStored(written, structuredClone(object));
          const again = toServed(written, structuredClone(stored));
          const { kind, apiVersion } = again;
          assert.deepEqual(again, { ...object, kind, apiVersion });
          assert.equal(apiVersion, written.apiVersion);
        });

        for (const other of all) {
          if (other === written) continue;
          it(`${title}: passes through ${other.apiVersion} unharmed`, () => {
            const stored = toStored(written, canonical(written, body));
            const shown = toServed(other, structuredClone(stored));
            const { value, unknownFields } = decode(other.served.type, structuredClone(shown));
            assert.deepEqual(unknownFields, []);
            assert.deepEqual(value, shown, 'what is shown is no canonical object of its version');
            assert.deepEqual(toStored(other, structuredClone(shown)), stored);
          });
        }
      }
    }
  }
});
