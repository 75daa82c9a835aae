import { titleOfKind } from './kind-title.js';
import { canList, type Kind, type Kinds } from './kinds.js';

export type Purpose = 'workloads' | 'network' | 'configuration' | 'storage' | 'access' | 'custom' | 'cluster';

/** Kinds that serve one purpose. */
export interface NavGroup {
  readonly purpose: Purpose;
  readonly title: string;
  readonly kinds: readonly NavKind[];
}

export interface NavKind {
  readonly kind: Kind;
  readonly title: string;
  /** The API group, where the title alone says too little: of custom resources. */
  readonly hint: string;
}

/**
 * The kinds of each purpose, the most used first, as `resource` or `resource.group`, where the group stands without the
 * vendor's suffix. `*.group` means all others of the group.
 */
const purposes: readonly (readonly [Purpose, string, readonly string[]])[] = [
  [
    'workloads',
    'Workloads',
    [
      ...['pods', 'deployments.apps', 'statefulsets.apps', 'daemonsets.apps', 'jobs.batch', 'cronjobs.batch'],
      ...['replicasets.apps', 'horizontalpodautoscalers.autoscaling', 'replicationcontrollers', '*.batch', '*.apps'],
    ],
  ],
  [
    'network',
    'Network',
    [
      ...['services', 'ingresses.networking', 'networkpolicies.networking', 'endpointslices.discovery'],
      ...['*.gateway.networking', 'ingressclasses.networking', '*.networking', 'endpoints'],
    ],
  ],
  [
    'configuration',
    'Configuration',
    [
      ...['configmaps', 'secrets', 'resourcequotas', 'limitranges', 'poddisruptionbudgets.policy'],
      ...[
        'priorityclasses.scheduling',
        'runtimeclasses.node',
        'podtemplates',
        '*.resource',
        '*.policy',
        '*.scheduling',
      ],
    ],
  ],
  [
    'storage',
    'Storage',
    [
      ...['persistentvolumeclaims', 'persistentvolumes', 'storageclasses.storage', '*.snapshot.storage'],
      ...['*.groupsnapshot.storage', '*.storage'],
    ],
  ],
  [
    'access',
    'Access',
    [
      'serviceaccounts',
      'roles.rbac.authorization',
      'rolebindings.rbac.authorization',
      '*.rbac.authorization',
      '*.certificates',
    ],
  ],
  ['custom', 'Custom resources', ['customresourcedefinitions.apiextensions']],
  [
    'cluster',
    'Cluster',
    [
      ...['nodes', 'namespaces', 'events', 'leases.coordination', 'apiservices.apiregistration'],
      ...[
        '*.admissionregistration',
        '*.flowcontrol.apiserver',
        '*.coordination',
        '*.storagemigration',
        '*.metrics',
        '*.node',
      ],
      ...['componentstatuses', '*.internal.apiserver', '*.autoscaling', '*.'],
    ],
  ],
];

/** Kinds that another one shows as well. */
const doubled: ReadonlySet<string> = new Set(['events.events']);

const ranks = new Map(
  purposes.flatMap(([purpose, , members]) => members.map((name, rank) => [name, { purpose, rank }] as const)),
);

/** The kinds that can be listed, by purpose. Kinds of groups that are not part of the platform are custom resources. */
export function navGroups({ all, suffix }: Kinds): readonly NavGroup[] {
  const placed = new Map<Purpose, { readonly rank: number; readonly entry: NavKind }[]>();
  for (const kind of all) {
    if (!canList(kind)) continue;
    const group = kind.group.endsWith(`.${suffix}`) ? kind.group.slice(0, -suffix.length - 1) : kind.group;
    if (doubled.has(`${kind.resource}.${group}`)) continue;
    const named = group === '' ? kind.resource : `${kind.resource}.${group}`;
    const { purpose, rank } = ranks.get(named) ?? ranks.get(`*.${group}`) ?? { purpose: 'custom', rank: 100 };
    const hint = rank === 100 ? kind.group : '';
    const entry = { kind, title: titleOfKind(kind), hint };
    placed.set(purpose, [...(placed.get(purpose) ?? []), { rank, entry }]);
  }
  const order = (a: { rank: number; entry: NavKind }, b: { rank: number; entry: NavKind }) =>
    a.rank - b.rank || compare(a.entry.hint, b.entry.hint) || compare(a.entry.title, b.entry.title);
  return purposes
    .map(([purpose, title]) => ({
      purpose,
      title,
      kinds: (placed.get(purpose) ?? []).sort(order).map(({ entry }) => entry),
    }))
    .filter(({ kinds }) => kinds.length > 0);
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/** The name under which choices for a kind are kept: `deployments.apps`. */
export function keyOfKind({ group, resource }: Pick<Kind, 'group' | 'resource'>): string {
  return group === '' ? resource : `${resource}.${group}`;
}
