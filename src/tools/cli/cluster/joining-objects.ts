import { joiningGroup } from '../../../base/config/bootstrap-groups.js';
import type { ClusterOptions } from '../../../base/config/cluster.options.js';
import { addressAt } from '../../../base/config/network.js';
import { firstServiceRange } from '../../../base/config/service-range.js';
import { clusterInfoName } from '../../../base/machinery/cluster-info-names.js';
import { groupName, type VendorNames } from '../../../base/machinery/vendor.js';
import { plinthFlagsKey } from './control-plane/cluster-settings.js';

/** An object as it is sent to be created. */
export type JoiningBody = Record<string, unknown> & {
  readonly metadata: { readonly name: string; readonly namespace?: string };
};

/** An object with the short name of its group and its resource. */
export interface JoiningObject {
  readonly group: string;
  readonly resource: string;
  readonly body: JoiningBody;
}

/** The information that joining nodes need besides the address of the cluster. */
export interface JoiningInfo {
  /** `host:port` at which nodes reach the API. */
  readonly endpoint: string;
  readonly serviceRange: string;
  /** Range of the addresses of pods; undefined where the cluster gives nodes none. */
  readonly podRange?: string | undefined;
  /** Driver of the runtimes of nodes: `cgroupfs` or `systemd`. */
  readonly cgroupDriver: string;
  /** Further names of the certificates of servers, for every control plane. */
  readonly certificateNames?: readonly string[];
  /** Flags that all servers must have alike, one in a line. */
  readonly flags?: string;
}

/** The release that nodes are to have. */
const release = 'v1.37.2';
const domain = 'cluster.local';
/** The path at which joining tools store the authority on a node. */
const nodeCertificates = '/etc/kubernetes/pki';
const policyReader = 'plinth:network-policy-reader';
/** Joining tools give the name service this address of the range. */
const nameServiceOffset = 10n;

/** The information about a cluster whose operator runs the servers. */
export function joiningInfo(server: string, cluster: Pick<ClusterOptions, 'serviceClusterIpRange'>): JoiningInfo {
  const { hostname, port } = new URL(server);
  const endpoint = `${hostname}:${port === '' ? 443 : port}`;
  return { endpoint, serviceRange: cluster.serviceClusterIpRange, cgroupDriver: 'cgroupfs' };
}

/**
 * What upstream's joining tool (and `plinth join`) looks for: the settings of the cluster and of its nodes' agents, and the
 * rights of nodes that have only a bootstrap token, under the names that this tool gives them.
 */
export function joiningObjects(names: VendorNames, info: JoiningInfo): readonly JoiningObject[] {
  const { systemNamespace, publicNamespace } = names;
  const requests = `system:${groupName('certificates', names)}:certificatesigningrequests`;
  const [bootstrappers, nodes] = [group(names, joiningGroup), group(names, 'system:nodes')];
  const anonymous = { apiGroup: groupName('rbac', names), kind: 'User', name: 'system:anonymous' };
  const toJoin = (name: string, role: string) => clusterBinding(names, name, role, [bootstrappers]);
  return [
    map(systemNamespace, 'kubeadm-config', {
      ClusterConfiguration: clusterConfiguration(info),
      ...(info.flags === undefined ? {} : { [plinthFlagsKey]: info.flags }),
    }),
    map(systemNamespace, 'kubelet-config', { kubelet: kubeletConfiguration(info) }),
    ...readers(names, publicNamespace, 'kubeadm:bootstrap-signer-clusterinfo', clusterInfoName, [anonymous]),
    ...readers(names, systemNamespace, 'kubeadm:nodes-kubeadm-config', 'kubeadm-config', [bootstrappers, nodes]),
    ...readers(names, systemNamespace, 'kubeadm:kubelet-config', 'kubelet-config', [nodes, bootstrappers]),
    rbacObject('clusterroles', {
      metadata: { name: 'kubeadm:get-nodes' },
      rules: [{ apiGroups: [''], resources: ['nodes'], verbs: ['get'] }],
    }),
    ...policyReaderObjects(names),
    toJoin('kubeadm:get-nodes', 'kubeadm:get-nodes'),
    toJoin('kubeadm:kubelet-bootstrap', 'system:node-bootstrapper'),
    toJoin('kubeadm:node-autoapprove-bootstrap', `${requests}:nodeclient`),
    clusterBinding(names, 'kubeadm:node-autoapprove-certificate-rotation', `${requests}:selfnodeclient`, [nodes]),
  ];
}

/** The right of proxies to read what network policies are about: their own role has services alone. */
export function policyReaderObjects(names: VendorNames): readonly JoiningObject[] {
  return [
    rbacObject('clusterroles', {
      metadata: { name: policyReader },
      rules: [
        { apiGroups: [''], resources: ['namespaces', 'pods'], verbs: ['list', 'watch'] },
        { apiGroups: [groupName('networking', names)], resources: ['networkpolicies'], verbs: ['list', 'watch'] },
      ],
    }),
    clusterBinding(names, policyReader, policyReader, [
      { apiGroup: groupName('rbac', names), kind: 'User', name: 'system:kube-proxy' },
    ]),
  ];
}

function clusterConfiguration({ endpoint, serviceRange, podRange, certificateNames = [] }: JoiningInfo): string {
  return [
    'apiVersion: kubeadm.k8s.io/v1beta4',
    'kind: ClusterConfiguration',
    'clusterName: kubernetes',
    `kubernetesVersion: ${release}`,
    `controlPlaneEndpoint: ${JSON.stringify(endpoint)}`,
    `certificatesDir: ${nodeCertificates}`,
    'networking:',
    `  dnsDomain: ${domain}`,
    `  serviceSubnet: ${serviceRange}`,
    ...(podRange === undefined ? [] : [`  podSubnet: ${podRange}`]),
    ...(certificateNames.length === 0
      ? []
      : ['apiServer:', '  certSANs:', ...certificateNames.map((name) => `  - ${JSON.stringify(name)}`)]),
    '',
  ].join('\n');
}

function kubeletConfiguration({ serviceRange, cgroupDriver }: JoiningInfo): string {
  const range = firstServiceRange(serviceRange);
  const nameService = range === undefined ? [] : ['clusterDNS:', `- ${addressAt(range, nameServiceOffset)}`];
  return [
    'apiVersion: kubelet.config.k8s.io/v1beta1',
    'kind: KubeletConfiguration',
    'authentication:',
    '  anonymous:',
    '    enabled: false',
    '  webhook:',
    '    enabled: true',
    '  x509:',
    `    clientCAFile: ${nodeCertificates}/ca.crt`,
    'authorization:',
    '  mode: Webhook',
    `cgroupDriver: ${cgroupDriver}`,
    ...nameService,
    `clusterDomain: ${domain}`,
    'healthzBindAddress: 127.0.0.1',
    'healthzPort: 10248',
    'rotateCertificates: true',
    'staticPodPath: /etc/kubernetes/manifests',
    '',
  ].join('\n');
}

interface Subject {
  readonly apiGroup: string;
  readonly kind: string;
  readonly name: string;
}

function group(names: VendorNames, name: string): Subject {
  return { apiGroup: groupName('rbac', names), kind: 'Group', name };
}

function map(namespace: string, name: string, data: Readonly<Record<string, string>>): JoiningObject {
  return { group: '', resource: 'configmaps', body: { metadata: { name, namespace }, data } };
}

/** A role that lets subjects read one map, and its binding of the same name. */
function readers(
  names: VendorNames,
  namespace: string,
  name: string,
  mapName: string,
  subjects: readonly Subject[],
): JoiningObject[] {
  const metadata = { name, namespace };
  const rules = [{ apiGroups: [''], resources: ['configmaps'], resourceNames: [mapName], verbs: ['get'] }];
  const roleRef = { apiGroup: groupName('rbac', names), kind: 'Role', name };
  return [rbacObject('roles', { metadata, rules }), rbacObject('rolebindings', { metadata, roleRef, subjects })];
}

function clusterBinding(names: VendorNames, name: string, role: string, subjects: readonly Subject[]): JoiningObject {
  const roleRef = { apiGroup: groupName('rbac', names), kind: 'ClusterRole', name: role };
  return rbacObject('clusterrolebindings', { metadata: { name }, roleRef, subjects });
}

function rbacObject(resource: string, body: JoiningBody): JoiningObject {
  return { group: 'rbac', resource, body };
}
