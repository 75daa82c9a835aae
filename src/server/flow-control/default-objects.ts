import { privilegedGroup } from '../../base/machinery/authorizer.js';
import { groupName, type VendorNames } from '../../base/machinery/vendor.js';
import type {
  FlowSchemaSpec,
  PolicyRulesWithSubjects,
  Subject,
} from '../../objects/apis/flowcontrol/v1/flow-schema.types.js';
import type { PriorityLevelConfigurationSpec } from '../../objects/apis/flowcontrol/v1/priority-level-configuration.types.js';

/** An object that the server itself creates. */
export interface DefaultObject<Spec> {
  readonly name: string;
  readonly spec: Spec;
  /**
   * Whether nobody may change the object, since the server can't classify requests without it. The operator can take
   * over other objects.
   */
  readonly isMandatory: boolean;
}

export type DefaultLevel = DefaultObject<PriorityLevelConfigurationSpec>;
export type DefaultSchema = DefaultObject<FlowSchemaSpec>;

/** The level of administrators and health checks. */
export const exemptName = 'exempt';
/** The level of requests that match nothing else. */
export const catchAllName = 'catch-all';

interface LevelShape {
  readonly shares: number;
  readonly lendable: number;
  readonly queues: number;
  readonly hand: number;
}

const suggestedLevels: Readonly<Record<string, LevelShape>> = {
  system: { shares: 30, lendable: 33, queues: 64, hand: 6 },
  'node-high': { shares: 40, lendable: 25, queues: 64, hand: 6 },
  'leader-election': { shares: 10, lendable: 0, queues: 16, hand: 4 },
  'workload-high': { shares: 40, lendable: 50, queues: 128, hand: 6 },
  'workload-low': { shares: 100, lendable: 90, queues: 128, hand: 6 },
  'global-default': { shares: 20, lendable: 50, queues: 128, hand: 6 },
};

/** The levels that every server has, as in upstream's newest release. */
export function defaultLevels(): DefaultLevel[] {
  return [
    {
      name: exemptName,
      isMandatory: true,
      spec: { type: 'Exempt', exempt: { nominalConcurrencyShares: 0, lendablePercent: 0 } },
    },
    {
      name: catchAllName,
      isMandatory: true,
      spec: {
        type: 'Limited',
        limited: { nominalConcurrencyShares: 5, lendablePercent: 0, limitResponse: { type: 'Reject' } },
      },
    },
    ...Object.entries(suggestedLevels).map(
      ([name, { shares, lendable, queues, hand }]): DefaultLevel => ({
        name,
        isMandatory: false,
        spec: {
          type: 'Limited',
          limited: {
            nominalConcurrencyShares: shares,
            lendablePercent: lendable,
            limitResponse: { type: 'Queue', queuing: { queues, handSize: hand, queueLengthLimit: 50 } },
          },
        },
      }),
    ),
  ];
}

const unauthenticated = 'system:unauthenticated';
const authenticated = 'system:authenticated';
const controllerManager = 'system:kube-controller-manager';
const scheduler = 'system:kube-scheduler';

const user = (name: string): Subject => ({ kind: 'User', user: { name } });
const group = (name: string): Subject => ({ kind: 'Group', group: { name } });

const everything: Pick<PolicyRulesWithSubjects, 'resourceRules' | 'nonResourceRules'> = {
  resourceRules: [{ verbs: ['*'], apiGroups: ['*'], resources: ['*'], clusterScope: true, namespaces: ['*'] }],
  nonResourceRules: [{ verbs: ['*'], nonResourceURLs: ['*'] }],
};

/** The schemas that every server has, as in upstream's newest release. */
export function defaultSchemas(names: VendorNames): DefaultSchema[] {
  const account = (name: string): Subject => ({
    kind: 'ServiceAccount',
    serviceAccount: { namespace: names.systemNamespace, name },
  });
  const coordination = groupName('coordination', names);
  const leases = { apiGroups: [coordination], resources: ['leases'], namespaces: ['*'] };
  const schema = (
    name: string,
    level: string,
    precedence: number,
    distinguisher: 'ByUser' | 'ByNamespace' | undefined,
    rule: PolicyRulesWithSubjects,
  ): DefaultSchema => ({
    name,
    isMandatory: name === exemptName || name === catchAllName,
    spec: {
      priorityLevelConfiguration: { name: level },
      matchingPrecedence: precedence,
      ...(distinguisher === undefined ? {} : { distinguisherMethod: { type: distinguisher } }),
      rules: [rule],
    },
  });
  return [
    schema(exemptName, exemptName, 1, undefined, { subjects: [group(privilegedGroup)], ...everything }),
    schema('probes', exemptName, 2, undefined, {
      subjects: [group(unauthenticated), group(authenticated)],
      nonResourceRules: [{ verbs: ['get'], nonResourceURLs: ['/healthz', '/readyz', '/livez'] }],
    }),
    schema('system-leader-election', 'leader-election', 100, 'ByUser', {
      subjects: [user(controllerManager), user(scheduler), account('*')],
      resourceRules: [{ verbs: ['get', 'create', 'update'], ...leases }],
    }),
    schema('system-node-high', 'node-high', 400, 'ByUser', {
      subjects: [group('system:nodes')],
      resourceRules: [
        {
          verbs: ['*'],
          apiGroups: [''],
          resources: ['nodes', 'nodes/status'],
          clusterScope: true,
          namespaces: ['*'],
        },
        { verbs: ['*'], ...leases },
      ],
    }),
    schema('system-nodes', 'system', 500, 'ByUser', { subjects: [group('system:nodes')], ...everything }),
    schema('kube-controller-manager', 'workload-high', 800, 'ByNamespace', {
      subjects: [user(controllerManager)],
      ...everything,
    }),
    schema('kube-scheduler', 'workload-high', 800, 'ByNamespace', { subjects: [user(scheduler)], ...everything }),
    schema('kube-system-service-accounts', 'workload-high', 900, 'ByNamespace', {
      subjects: [account('*')],
      ...everything,
    }),
    schema('service-accounts', 'workload-low', 9000, 'ByUser', {
      subjects: [group('system:serviceaccounts')],
      ...everything,
    }),
    schema('global-default', 'global-default', 9900, 'ByUser', {
      subjects: [group(unauthenticated), group(authenticated)],
      ...everything,
    }),
    schema(catchAllName, catchAllName, 10_000, 'ByUser', {
      subjects: [group(unauthenticated), group(authenticated)],
      ...everything,
    }),
  ];
}
