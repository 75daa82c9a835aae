import type { FieldDescriptions } from '../../../base/machinery/schema/index.js';

const nonResourceRule = { '': 'Paths that are not resources.' };
const ranges = 'Ids that are allowed; with MustRunAs the very first is the default.';
const ids = (of: string, rules: string) => ({ '': `Which ${of} pods may have.`, rule: rules, ranges });
const runAs = 'MustRunAs (in the ranges), MayRunAs (if given, in the ranges) or RunAsAny.';
const shares = 'Weight when the concurrency of the server is divided';
const lendable = 'Part of its places that others may use meanwhile, in percent; 0 if not given.';

/** Descriptions of the groups `policy` and `flowcontrol`. */
export const policyDescriptions: FieldDescriptions = {
  'policy.PodDisruptionBudgetSpec': { '': 'Which pods, and how many may be away.' },
  'policy.PodDisruptionBudgetStatus': { '': 'How many pods may be evicted now.' },
  'policy.AllowedCSIDriver': { '': 'A CSI driver that pods may use.', name: 'Name of the driver.' },
  'policy.AllowedFlexVolume': { '': 'A flex volume driver that pods may use.', driver: 'Name of the driver.' },
  'policy.AllowedHostPath': {
    '': 'A directory of the node that pods may use.',
    pathPrefix: 'The directory; everything below it is allowed too.',
  },
  'policy.FSGroupStrategyOptions': ids('groups of volumes', runAs),
  'policy.HostPortRange': {
    '': 'A range of ports of the node.',
    min: 'First port of the range.',
    max: 'Last port of the range.',
  },
  'policy.IDRange': { '': 'A range of ids.', min: 'First id of the range.', max: 'Last id of the range.' },
  'policy.PodSecurityPolicySpec': {
    '': 'What pods may ask for.',
    privileged: 'Whether containers may be privileged.',
    defaultAddCapabilities: 'Capabilities that containers get unless they drop them.',
    requiredDropCapabilities: 'Capabilities that containers must go without.',
    allowedCapabilities: 'Capabilities that containers may add; * is all.',
    volumes: 'Kinds of volumes that may be used; empty is none, * is all.',
    hostNetwork: 'Whether pods may use the network of the node.',
    hostPorts: 'Ports of the node that may be used.',
    hostPID: 'Whether pods may see the processes of the node.',
    hostIPC: 'Whether pods may use the shared memory of the node.',
    seLinux: 'Which SELinux labels are allowed.',
    supplementalGroups: 'Which further groups are allowed.',
    fsGroup: 'Which groups of volumes are allowed.',
    readOnlyRootFilesystem: 'Whether the root file system must be read-only.',
    defaultAllowPrivilegeEscalation: 'Whether processes may gain rights, where a container does not say.',
    allowPrivilegeEscalation: 'Whether containers may let processes gain rights; true if not given.',
    allowedHostPaths: 'Directories of the node that may be used; empty is all.',
    allowedFlexVolumes: 'Flex volume drivers that may be used; empty is all.',
    allowedCSIDrivers: 'CSI drivers that may be used inline; empty is all.',
    allowedUnsafeSysctls: 'Unsafe kernel settings that are allowed; a trailing * stands for any ending.',
    forbiddenSysctls: 'Kernel settings that are forbidden; a trailing * stands for any ending.',
    allowedProcMountTypes: 'Ways of mounting /proc that are allowed; empty is Default only.',
    runtimeClass: 'Which runtime classes are allowed; not given is all.',
  },
  'policy.RunAsGroupStrategyOptions': ids('groups', runAs),
  'policy.RunAsUserStrategyOptions': ids('users', 'MustRunAs (in the ranges), MustRunAsNonRoot or RunAsAny.'),
  'policy.RuntimeClassStrategyOptions': {
    '': 'Which runtime classes pods may use.',
    allowedRuntimeClassNames: 'Names of the classes; * is all, empty is none.',
    defaultRuntimeClassName: 'Class of pods that name none.',
  },
  'policy.SELinuxStrategyOptions': {
    '': 'Which SELinux labels pods may have.',
    rule: 'MustRunAs (those given here) or RunAsAny.',
  },
  'policy.SupplementalGroupsStrategyOptions': ids('further groups', runAs),
  'flowcontrol.ExemptPriorityLevelConfiguration': {
    '': 'A level without limits, whose places others may borrow.',
    nominalConcurrencyShares: `${shares}; 0 if not given.`,
    lendablePercent: lendable,
  },
  'flowcontrol.FlowDistinguisherMethod': {
    '': 'How requests are divided into flows.',
    type: 'ByUser or ByNamespace.',
  },
  'flowcontrol.FlowSchemaSpec': {
    '': 'Which requests get which level.',
    priorityLevelConfiguration: 'Level that the requests get.',
    matchingPrecedence: 'Rank among the schemas, lower first; 1 to 10000, 1000 if not given.',
    distinguisherMethod: 'How the requests are divided into flows; not given is one flow.',
    rules: 'A request belongs here when one of these fits.',
  },
  'flowcontrol.FlowSchemaStatus': { '': 'Whether the schema is in order.' },
  'flowcontrol.GroupSubject': { '': 'A group of users.', name: 'Name of the group; * is all.' },
  'flowcontrol.LimitResponse': {
    '': 'What happens to requests beyond the limit.',
    type: 'Queue or Reject.',
    queuing: 'How requests wait; with Queue only.',
  },
  'flowcontrol.LimitedPriorityLevelConfiguration': {
    '': 'A level with limits.',
    nominalConcurrencyShares: `${shares}; 30 if not given.`,
    limitResponse: 'What happens to requests beyond the limit.',
    lendablePercent: lendable,
    borrowingLimitPercent: 'How much it may borrow, in percent of its own; no limit if not given.',
  },
  'flowcontrol.NonResourcePolicyRule': nonResourceRule,
  'flowcontrol.PolicyRulesWithSubjects': {
    '': 'Who does what.',
    subjects: 'Whose requests; one of them is enough.',
  },
  'flowcontrol.PriorityLevelConfigurationReference': { '': 'Points to a level.', name: 'Name of the level.' },
  'flowcontrol.PriorityLevelConfigurationSpec': {
    '': 'Limits of the level.',
    type: 'Limited, or Exempt: its requests never wait.',
    limited: 'Settings of type Limited.',
    exempt: 'Settings of type Exempt.',
  },
  'flowcontrol.PriorityLevelConfigurationStatus': { '': 'Whether the level is in order.' },
  'flowcontrol.QueuingConfiguration': {
    '': 'Queues of a level.',
    queues: 'Number of queues; 64 if not given.',
    handSize: 'Queues that a flow may use; 8 if not given.',
    queueLengthLimit: 'Maximum number of requests in one queue; 50 if not given.',
  },
  'flowcontrol.ResourcePolicyRule': {
    '': 'Actions on resources.',
    resources: 'Plural names, also as pods/log; * is all.',
    clusterScope: 'Whether requests without a namespace fit.',
    namespaces: 'Namespaces that fit; * is all.',
  },
  'flowcontrol.ServiceAccountSubject': {
    '': 'A service account.',
    namespace: 'Namespace of the account.',
    name: 'Name of the account; * is all of the namespace.',
  },
  'flowcontrol.Subject': {
    '': 'A user, a group or a service account.',
    kind: 'Which it is: User, Group or ServiceAccount.',
    user: 'The user, for kind User.',
    group: 'The group, for kind Group.',
    serviceAccount: 'The account, for kind ServiceAccount.',
  },
  'flowcontrol.UserSubject': { '': 'A user.', name: 'Name of the user; * is all.' },
};
