import type { ResourceDefinition } from '../../src/objects/registry/resource-definition.js';

type Body = Readonly<Record<string, unknown>>;

const labels = { app: 'a' };
const podSpec = { containers: [{ name: 'c', image: 'i' }] };
const template = { metadata: { labels }, spec: podSpec };
const runOnce = { spec: { ...podSpec, restartPolicy: 'Never' } };
const workload = { selector: { matchLabels: labels }, template };
const claimSpec = { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } };
const webhooks = [
  {
    name: 'a.example.com',
    clientConfig: { url: 'https://127.0.0.1:9/hook' },
    sideEffects: 'None',
    admissionReviewVersions: ['v1'],
  },
];
const limited = { type: 'Limited', limited: { limitResponse: { type: 'Reject' } } };

/** A signed certificate request for `CN=test`. */
const certificateRequest = [
  'LS0tLS1CRUdJTiBDRVJUSUZJQ0FURSBSRVFVRVNULS0tLS0KTUlIS01IRUNBUUF3RHpFTk1Bc0dBMVVFQXhNRWRHVnpkREJaTUJN',
  'R0J5cUdTTTQ5QWdFR0NDcUdTTTQ5QXdFSApBMElBQkJhdWtDenZTMk1ucWdFVG13VFNpWk1hUm5LT0lPRG9WUjk0eTgzME1OcWM3',
  'S3lGNmhEelE1MlpwM00vClloMTZuZlFKbXlzb01kLzZlYUFCbjRieG1iR2dBREFLQmdncWhrak9QUVFEQWdOSkFEQkdBaUVBbGYx',
  'RlpIdFYKeFZOclFWZ3BwemErMDhNTUJya1JwaTY0VWw4YVVCa05ScmtDSVFDaGFnNkdVTytGaVhoNTZXbGkrWFpEa0NJZQpjbHlR',
  'blVlRElMM2RqRTQ2eGc9PQotLS0tLUVORCBDRVJUSUZJQ0FURSBSRVFVRVNULS0tLS0K',
].join('');

/** The certificate of an authority, valid for a century. */
const trustAnchor = [
  '-----BEGIN CERTIFICATE-----',
  'MIIBdDCCARugAwIBAgIUZqqlx5w1ggNtb3FR6AV/HWf6tfUwCgYIKoZIzj0EAwIw',
  'DzENMAsGA1UEAwwEdGVzdDAgFw0yNjExMjgxNDQ0MTBaGA8yMTI2MTEwNDE0NDQx',
  'MFowDzENMAsGA1UEAwwEdGVzdDBZMBMGByqGSM49AgEGCCqGSM49AwEHA0IABF0s',
  'ChPLiilq+uhMCP4hpoEnEbTNlm4nyK0+dH4CR8cdEQGvpF2rgAfsFthP6Lwv40L7',
  '+vYvL4Iztlm0v7SiHJSjUzBRMB0GA1UdDgQWBBQzBARmY3PiUHDifWpIjnC9adlL',
  'VDAfBgNVHSMEGDAWgBQzBARmY3PiUHDifWpIjnC9adlLVDAPBgNVHRMBAf8EBTAD',
  'AQH/MAoGCCqGSM49BAMCA0cAMEQCIFVheGTTzhtyGjMiI5U/WQbX3TkyJmSRG50h',
  '0A6a8kfnAiAMLBClCR2hsVL13jCHU13+qwS0Tf/PPgPknfHGvUZ40A==',
  '-----END CERTIFICATE-----',
].join('\n');

/** A signed certificate request without a subject. */
const podKeyRequest = [
  'MH8wMwIBADAAMCowBQYDK2VwAyEAigK/w8AyF8veQqFDRtDYplyZDFRl/h9yphomTeaovDigADAFBgMrZXADQQBOaIDwju6LlzbR',
  'nQUQDjNvAkid4WhhXDl4jPIxCHVOvh8PuCf5R9EMUP7rDSOEU9TVN1IloPzdPzvjL4WMKHYL',
].join('');

const deviceClaim = { requests: [{ name: 'r', exactly: { deviceClassName: 'c' } }] };
const evictedPod = { pod: { name: 'p', uid: '123e4567-e89b-12d3-a456-426614174000' } };

const policyRule = { operations: ['CREATE'], apiGroups: ['example'], apiVersions: ['v1'], resources: ['shelves'] };

/** The minimum content that the rules of a kind require besides a name, in its first version, by resource and group. */
const bodies: Readonly<Record<string, Body>> = {
  configmaps: {},
  endpoints: {},
  events: { involvedObject: { kind: 'ConfigMap', name: 'x', namespace: 'default' }, reason: 'R', type: 'Normal' },
  limitranges: { spec: { limits: [{ type: 'Container', max: { cpu: '2' } }] } },
  namespaces: {},
  nodes: {},
  persistentvolumeclaims: { spec: claimSpec },
  persistentvolumes: {
    spec: { capacity: { storage: '1Gi' }, accessModes: ['ReadWriteOnce'], hostPath: { path: '/data' } },
  },
  pods: { spec: podSpec },
  podtemplates: { template },
  replicationcontrollers: { spec: { selector: labels, template } },
  resourcequotas: { spec: { hard: { pods: '3' } } },
  secrets: { data: { a: 'YQ==' } },
  serviceaccounts: {},
  services: { spec: { selector: labels, ports: [{ port: 80 }] } },
  'mutatingwebhookconfigurations.admissionregistration': { webhooks },
  'mutatingadmissionpolicies.admissionregistration': {
    spec: {
      matchConstraints: { resourceRules: [policyRule] },
      mutations: [
        { patchType: 'JSONPatch', jsonPatch: { expression: '[JSONPatch{op: "remove", path: "/metadata/labels/a"}]' } },
      ],
      reinvocationPolicy: 'Never',
    },
  },
  'mutatingadmissionpolicybindings.admissionregistration': { spec: { policyName: 'x' } },
  'validatingadmissionpolicies.admissionregistration': {
    spec: { matchConstraints: { resourceRules: [policyRule] }, validations: [{ expression: 'true' }] },
  },
  'validatingadmissionpolicybindings.admissionregistration': {
    spec: { policyName: 'x', validationActions: ['Deny'] },
  },
  'validatingwebhookconfigurations.admissionregistration': { webhooks },
  'customresourcedefinitions.apiextensions': {
    spec: {
      group: 'example.com',
      names: { plural: 'shelves', kind: 'Shelf' },
      scope: 'Namespaced',
      versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object' } } }],
    },
  },
  'apiservices.apiregistration': { spec: { version: 'v1', groupPriorityMinimum: 10, versionPriority: 10 } },
  'controllerrevisions.apps': { revision: 1, data: { a: 1 } },
  'daemonsets.apps': { spec: workload },
  'deployments.apps': { spec: workload },
  'replicasets.apps': { spec: workload },
  'statefulsets.apps': {
    spec: { ...workload, serviceName: 's', volumeClaimTemplates: [{ metadata: { name: 'v' }, spec: claimSpec }] },
  },
  'horizontalpodautoscalers.autoscaling': {
    spec: { scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'd' }, maxReplicas: 3 },
  },
  'cronjobs.batch': { spec: { schedule: '0 0 * * *', jobTemplate: { spec: { template: runOnce } } } },
  'jobs.batch': { spec: { template: runOnce } },
  'certificatesigningrequests.certificates': {
    spec: { request: certificateRequest, signerName: 'example.com/s', usages: ['client auth'] },
  },
  'clustertrustbundles.certificates': { spec: { trustBundle: trustAnchor } },
  'podcertificaterequests.certificates': {
    spec: {
      signerName: 'example.com/s',
      podName: 'p',
      podUID: 'u',
      serviceAccountName: 'default',
      serviceAccountUID: 'a',
      nodeName: 'n',
      nodeUID: 'm',
      stubPKCS10Request: podKeyRequest,
    },
  },
  'leasecandidates.coordination': {
    spec: { leaseName: 'l', binaryVersion: '1.37.0', emulationVersion: '1.37.0', strategy: 'OldestEmulationVersion' },
  },
  'evictionrequests.lifecycle': { spec: { target: evictedPod, requester: 'example.com/r', intent: 'Eviction' } },
  'evictions.lifecycle': { spec: { target: evictedPod } },
  'storageversions.internal.apiserver': {},
  'deviceclasses.resource': { spec: { selectors: [{ cel: { expression: 'true' } }] } },
  'devicetaintrules.resource': { spec: { taint: { key: 'k', effect: 'NoSchedule' } } },
  'resourceclaims.resource': { spec: { devices: deviceClaim } },
  'resourceclaimtemplates.resource': { spec: { spec: { devices: deviceClaim } } },
  'resourcepoolstatusrequests.resource': { spec: { driver: 'd.example.com' } },
  'resourceslices.resource': {
    spec: { driver: 'd.example.com', pool: { name: 'p', resourceSliceCount: 1 }, allNodes: true },
  },
  'workloads.scheduling': { spec: { podGroupTemplates: [{ name: 't', schedulingPolicy: { basic: {} } }] } },
  'podgroups.scheduling': { spec: { schedulingPolicy: { basic: {} } } },
  'compositepodgroups.scheduling': {
    spec: { workloadRef: { workloadName: 'w', templateName: 't' }, schedulingPolicy: { basic: {} } },
  },
  'storageversionmigrations.storagemigration': { spec: { resource: { group: '', resource: 'secrets' } } },
  'leases.coordination': { spec: { holderIdentity: 'h', leaseDurationSeconds: 10 } },
  'endpointslices.discovery': { addressType: 'IPv4', endpoints: [{ addresses: ['10.1.2.3'] }], ports: [{ port: 80 }] },
  'events.events': {
    regarding: { kind: 'ConfigMap', name: 'x', namespace: 'default' },
    eventTime: '2030-01-01T00:00:00.000000Z',
    reportingController: 'example.com/reporter',
    reportingInstance: 'r-1',
    action: 'Act',
    reason: 'R',
    type: 'Normal',
  },
  'flowschemas.flowcontrol.apiserver': { spec: { priorityLevelConfiguration: { name: 'p' } } },
  'prioritylevelconfigurations.flowcontrol.apiserver': { spec: limited },
  'ingressclasses.networking': { spec: { controller: 'example.com/c' } },
  'ingresses.networking': { spec: { defaultBackend: { service: { name: 's', port: { number: 80 } } } } },
  'ipaddresses.networking': { spec: { parentRef: { resource: 'services', name: 's', namespace: 'default' } } },
  'networkpolicies.networking': { spec: { podSelector: {} } },
  'servicecidrs.networking': { spec: { cidrs: ['10.9.0.0/16'] } },
  'runtimeclasses.node': { handler: 'h' },
  'poddisruptionbudgets.policy': { spec: { minAvailable: 1, selector: { matchLabels: labels } } },
  'podsecuritypolicies.policy': {
    spec: {
      seLinux: { rule: 'RunAsAny' },
      runAsUser: { rule: 'RunAsAny' },
      supplementalGroups: { rule: 'RunAsAny' },
      fsGroup: { rule: 'RunAsAny' },
    },
  },
  'clusterrolebindings.rbac.authorization': {
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'view' },
  },
  'clusterroles.rbac.authorization': {},
  'rolebindings.rbac.authorization': {
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'view' },
  },
  'roles.rbac.authorization': {},
  'priorityclasses.scheduling': { value: 10 },
  'csidrivers.storage': {},
  'csinodes.storage': { spec: { drivers: [] } },
  'csistoragecapacities.storage': { storageClassName: 's' },
  'storageclasses.storage': { provisioner: 'example.com/p' },
  'volumeattachments.storage': {
    spec: { attacher: 'a.example.com', nodeName: 'n', source: { persistentVolumeName: 'v' } },
  },
  'volumeattributesclasses.storage': { driverName: 'd.example.com', parameters: { a: 'b' } },
};

/** The smallest valid new object of a stored kind, in its first version, under the name. */
export function validObject(definition: ResourceDefinition, metadata: Body): Body {
  const { group, resource, kind, versions } = definition;
  const shortGroup = group.endsWith('.k8s.io') ? group.slice(0, -'.k8s.io'.length) : group;
  const key = shortGroup === '' ? resource : `${resource}.${shortGroup}`;
  const body = bodies[key];
  if (body === undefined) throw new Error(`no valid ${key} is known; add one`);
  const apiVersion = group === '' ? versions[0].version : `${group}/${versions[0].version}`;
  return fittingName(definition, { apiVersion, kind, metadata, ...structuredClone(body) });
}

/** Adjusts the spec of kinds whose name must agree with their spec. */
export function fittingName({ resource }: ResourceDefinition, object: Body): Body {
  const { name } = object.metadata as Body;
  if (typeof name !== 'string') return object;
  const spec = object.spec as Body;
  switch (resource) {
    case 'apiservices':
      return { ...object, spec: { ...spec, group: name.replace(/^v1\./, '') } };
    case 'customresourcedefinitions': {
      const [plural = '', ...group] = name.split('.');
      return { ...object, spec: { ...spec, group: group.join('.'), names: { plural, kind: `Kind${plural}` } } };
    }
    default:
      return object;
  }
}
