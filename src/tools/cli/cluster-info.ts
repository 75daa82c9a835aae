import type { ServerOptions } from '../../base/config/server-options.js';
import type { ApiObject } from '../../base/machinery/api-object.js';
import { clusterInfoKubeconfigKey, clusterInfoName } from '../../base/machinery/cluster-info-names.js';
import { serverContext } from '../../base/machinery/internal-context.js';
import { decode } from '../../base/machinery/schema/index.js';
import { StatusError } from '../../base/machinery/status-error.js';
import { groupName, VENDOR_NAMES, type VendorNames } from '../../base/machinery/vendor.js';
import type { Logger } from '../../base/observability/logger.js';
import { openApplicationContext } from '../../base/process/application-context.js';
import type { ConfigMap } from '../../objects/apis/core/v1/config-map.types.js';
import { ResourceStores } from '../../objects/registry/store/resource-stores.js';
import { ResourcesAppModule } from '../../resources-app.module.js';
import { type JoiningBody, type JoiningInfo, joiningObjects, policyReaderObjects } from './cluster/joining-objects.js';
import { nodeAgentClient } from './pki/pki.js';

/** The information that a node needs before it can reach the cluster. */
export interface ClusterInfo {
  /** URL at which nodes reach the API. */
  readonly server: string;
  /** PEM of the authority that clients check the server's certificate with. */
  readonly authority: string;
}

/** Options for publishing the cluster, which a server on one machine sets. */
export interface PublishRules {
  /** Whether a published document may be replaced; by default any. */
  readonly replaces?: (document: string) => boolean;
  /** Whether the user of the server's client certificate for node agents gets the right to call them. */
  readonly grantsNodeAgents?: boolean;
  /** Whether proxies get the right to read network policies, without which they follow none. */
  readonly grantsProxies?: boolean;
  /**
   * Publishes the information that joining tools read, which lets nodes join by bootstrap tokens. Default: nodes can't
   * join.
   */
  readonly joining?: JoiningInfo | undefined;
}

/** Name of the Role that lets everybody read the map, and of its binding. */
const clusterInfoRole = 'system:cluster-info-reader';

const noAdmission = async () => {};

/**
 * Publishes the location of the cluster: the map `cluster-info` of the public namespace (specification 2.9), and the
 * right to read it without authentication. Correct objects are left unchanged, and so are rights and settings that an
 * administrator changed.
 *
 * @throws MigrationError or StorageError when the database can't be used.
 */
export async function publishClusterInfo(
  options: Pick<ServerOptions, 'storage' | 'cluster'>,
  info: ClusterInfo,
  logger: Logger,
  rules: PublishRules = {},
): Promise<void> {
  const resources = await openApplicationContext(ResourcesAppModule.of(options, logger), logger);
  try {
    const [names, stores] = [resources.get<VendorNames>(VENDOR_NAMES), resources.get(ResourceStores)];
    await ensureClusterInfo(names, stores, info, rules);
    if (rules.grantsNodeAgents === true) await ensureNodeAgentBinding(names, stores);
    const objects = rules.joining === undefined ? [] : joiningObjects(names, rules.joining);
    const rights = rules.grantsProxies === true ? policyReaderObjects(names) : [];
    for (const { group, resource, body } of [...objects, ...rights]) {
      await create(stores, groupName(group, names), resource, body);
    }
  } finally {
    await resources.close();
  }
}

/** Publishes the map with stores that are already open. */
async function ensureClusterInfo(
  names: VendorNames,
  stores: ResourceStores,
  info: ClusterInfo,
  rules: PublishRules,
): Promise<void> {
  const rbac = groupName('rbac', names);
  const metadata = { name: clusterInfoRole, namespace: names.publicNamespace };
  await ensureMap(names, stores, formatClusterInfo(info), rules);
  await create(stores, rbac, 'roles', {
    metadata,
    rules: [{ apiGroups: [''], resources: ['configmaps'], resourceNames: [clusterInfoName], verbs: ['get'] }],
  });
  await create(stores, rbac, 'rolebindings', {
    metadata,
    roleRef: { apiGroup: rbac, kind: 'Role', name: clusterInfoRole },
    // Clients that have identified themselves may read it as well.
    subjects: ['system:unauthenticated', 'system:authenticated'].map((name) => ({
      apiGroup: rbac,
      kind: 'Group',
      name,
    })),
  });
}

/** The document in the map: a kubeconfig that names no user. */
function formatClusterInfo({ server, authority }: ClusterInfo): string {
  return [
    'apiVersion: v1',
    'kind: Config',
    'clusters:',
    '- name: ""',
    '  cluster:',
    `    server: ${JSON.stringify(server)}`,
    `    certificate-authority-data: ${Buffer.from(authority).toString('base64')}`,
    'contexts: []',
    'users: []',
    'current-context: ""',
    'preferences: {}',
    '',
  ].join('\n');
}

/** Agents check the access to their logs for this user, who has no other rights. */
async function ensureNodeAgentBinding(names: VendorNames, stores: ResourceStores): Promise<void> {
  const apiGroup = groupName('rbac', names);
  await create(stores, apiGroup, 'clusterrolebindings', {
    metadata: { name: `plinth:${nodeAgentClient}` },
    roleRef: { apiGroup, kind: 'ClusterRole', name: 'system:kubelet-api-admin' },
    subjects: [{ apiGroup, kind: 'User', name: nodeAgentClient }],
  });
}

async function ensureMap(
  { publicNamespace }: VendorNames,
  stores: ResourceStores,
  document: string,
  { replaces = () => true }: PublishRules,
): Promise<void> {
  const data = { [clusterInfoKubeconfigKey]: document };
  await create(stores, '', 'configmaps', { metadata: { name: clusterInfoName, namespace: publicNamespace }, data });
  await stores.named('', 'configmaps').update(serverContext(stores.clock.now()), publicNamespace, clusterInfoName, {
    dryRun: false,
    validate: noAdmission,
    // Nothing is written when nothing changes. The bootstrap signer replaces outdated signatures.
    transform: (live) => {
      const map = live as ConfigMap & ApiObject;
      const published = map.data?.[clusterInfoKubeconfigKey];
      if (published !== undefined && !replaces(published)) return map;
      return { ...map, data: { ...map.data, ...data } } as ApiObject;
    },
  });
}

async function create(stores: ResourceStores, group: string, resource: string, body: JoiningBody): Promise<void> {
  const store = stores.named(group, resource);
  const { name, namespace = '' } = body.metadata;
  const key = { resource: store.resource.storageResource, namespace, name };
  if ((await stores.storage.get(key)) !== undefined) return;
  const object = decode(store.resource.served.type, body).value as ApiObject;
  store.resource.definition.strategy.applyDefaults?.(object);
  try {
    await store.create(serverContext(stores.clock.now()), object, { dryRun: false, validate: noAdmission });
  } catch (error) {
    if (!(error instanceof StatusError && error.reason === 'AlreadyExists')) throw error;
  }
}
