/** This program's names for the controllers of release 1.37, where the names differ. */
const here: Readonly<Record<string, string>> = {
  'certificatesigningrequest-approving-controller': 'csrapproving',
  'certificatesigningrequest-cleaner-controller': 'csrcleaner',
  'certificatesigningrequest-signing-controller': 'csrsigning',
  'clusterrole-aggregation-controller': 'clusterrole-aggregation',
  'cronjob-controller': 'cronjob',
  'daemonset-controller': 'daemonset',
  'deployment-controller': 'deployment',
  'disruption-controller': 'disruption',
  'endpoints-controller': 'endpoint',
  'endpointslice-controller': 'endpointslice',
  'endpointslice-mirroring-controller': 'endpointslicemirroring',
  'garbage-collector-controller': 'garbagecollector',
  'horizontal-pod-autoscaler-controller': 'horizontalpodautoscaling',
  'job-controller': 'job',
  'namespace-controller': 'namespace',
  'node-ipam-controller': 'nodeipam',
  'node-lifecycle-controller': 'nodelifecycle',
  'persistentvolume-binder-controller': 'persistentvolume-binder',
  'persistentvolume-protection-controller': 'pv-protection',
  'persistentvolumeclaim-protection-controller': 'pvc-protection',
  'pod-garbage-collector-controller': 'podgc',
  'replicaset-controller': 'replicaset',
  'replicationcontroller-controller': 'replicationcontroller',
  'resourcequota-controller': 'resourcequota',
  'root-ca-certificate-publisher-controller': 'root-ca-cert-publisher',
  'serviceaccount-controller': 'serviceaccount',
  'serviceaccount-token-controller': 'serviceaccount-token',
  'statefulset-controller': 'statefulset',
  'storage-version-migrator-controller': 'storage-version-migration',
  'token-cleaner-controller': 'tokencleaner',
  'ttl-after-finished-controller': 'ttl-after-finished',
  'ttl-controller': 'ttl',
  'validatingadmissionpolicy-status-controller': 'validatingadmissionpolicy-status',
};

/** Controllers of the release that have the same name here, or do not exist here. */
const others = `
  bootstrap-signer-controller device-taint-eviction-controller ephemeral-volume-controller
  kube-apiserver-serving-clustertrustbundle-publisher-controller legacy-serviceaccount-token-cleaner-controller
  persistentvolume-attach-detach-controller persistentvolume-expander-controller
  podcertificaterequest-cleaner-controller podgroup-protection-controller resourceclaim-controller
  resourcepoolstatusrequest-controller selinux-warning-controller service-cidr-controller
  storageversion-garbage-collector-controller taint-eviction-controller
  volumeattributesclass-protection-controller
`;

/** The names of all controllers of release 1.37. */
export const releaseLoopNames: readonly string[] = [...Object.keys(here), ...others.trim().split(/\s+/)];

/** This program's name for a controller of release 1.37; undefined when it is the same. */
export function loopOfRelease(name: string): string | undefined {
  return Object.hasOwn(here, name) ? here[name] : undefined;
}
