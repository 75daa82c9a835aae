import { groupName, type VendorNames } from '../../../base/machinery/vendor.js';
import {
  type PodSecurityPolicy,
  podSecurityPolicy,
} from '../../../objects/apis/policy/v1beta1/pod-security-policy.types.js';
import { nameColumn } from '../../../objects/registry/definition/default-columns.js';
import { deprecation } from '../../../objects/registry/definition/served-version.js';
import {
  defineResource,
  type ResourceDefinition,
  type TableColumn,
} from '../../../objects/registry/resource-definition.js';
import { validatePodSecurityPolicy } from './pod-security-policy.validation.js';

const columns: readonly TableColumn<PodSecurityPolicy>[] = [
  nameColumn,
  {
    name: 'Priv',
    type: 'string',
    description: 'Whether privileged pods are allowed.',
    cell: ({ spec }) => String(spec.privileged ?? false),
  },
  {
    name: 'Caps',
    type: 'string',
    description: 'Capabilities that may be asked for.',
    cell: ({ spec }) => (spec.allowedCapabilities ?? []).join(','),
  },
  { name: 'SELinux', type: 'string', description: 'Rule for SELinux labels.', cell: ({ spec }) => spec.seLinux.rule },
  { name: 'RunAsUser', type: 'string', description: 'Rule for users.', cell: ({ spec }) => spec.runAsUser.rule },
  {
    name: 'FsGroup',
    type: 'string',
    description: 'Rule for groups of volumes.',
    cell: ({ spec }) => spec.fsGroup.rule ?? '',
  },
  {
    name: 'SupGroup',
    type: 'string',
    description: 'Rule for supplemental groups.',
    cell: ({ spec }) => spec.supplementalGroups.rule ?? '',
  },
  {
    name: 'ReadOnlyRootFs',
    type: 'string',
    description: 'Whether root file systems must be read-only.',
    cell: ({ spec }) => spec.readOnlyRootFilesystem ?? false,
  },
  {
    name: 'Volumes',
    type: 'string',
    description: 'Volume types that may be used.',
    cell: ({ spec }) => (spec.volumes ?? []).join(','),
  },
];

/** `podsecuritypolicies`: the privileges that pods may request. Served only in its deprecated version. */
export function podSecurityPolicyResource(names: VendorNames): ResourceDefinition {
  return defineResource<PodSecurityPolicy>({
    group: groupName('policy', names),
    resource: 'podsecuritypolicies',
    singular: 'podsecuritypolicy',
    kind: 'PodSecurityPolicy',
    namespaced: false,
    shortNames: ['psp'],
    versions: [
      {
        version: 'v1beta1',
        type: podSecurityPolicy,
        deprecated: deprecation({
          group: groupName('policy', names),
          version: 'v1beta1',
          kind: 'PodSecurityPolicy',
          since: '1.21',
          removed: '1.25',
        }),
      },
    ],
    strategyOptions: { returnsDeletedObject: true },
    strategy: {
      applyDefaults: ({ spec }) => {
        spec.allowPrivilegeEscalation ??= true;
      },
      validate: (_context, object) => validatePodSecurityPolicy(object, names),
      validateUpdate: (_context, object) => validatePodSecurityPolicy(object, names),
    },
    columns,
  });
}
