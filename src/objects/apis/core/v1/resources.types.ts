import {
  enumOf,
  type Infer,
  keyedBy,
  list,
  map,
  optional,
  quantity,
  required,
  string,
  struct,
} from '../../../../base/machinery/schema/index.js';

export const resourceList = map(quantity);
export type ResourceList = Infer<typeof resourceList>;

export const volumeResourceRequirements = struct(
  'core.v1.VolumeResourceRequirements',
  {
    limits: optional(1, resourceList, { doc: 'The most.' }),
    requests: optional(2, resourceList, { doc: 'The least.' }),
  },
  { doc: 'Size that a volume must and may have.' },
);
export type VolumeResourceRequirements = Infer<typeof volumeResourceRequirements>;

export const resourceClaim = struct('core.v1.ResourceClaim', {
  name: required(1, string),
  request: optional(2, string),
});
export type ResourceClaim = Infer<typeof resourceClaim>;

export const resourceRequirements = struct(
  'core.v1.ResourceRequirements',
  {
    limits: optional(1, resourceList, { doc: 'The most that may be used.' }),
    requests: optional(2, resourceList, { doc: 'What is reserved.' }),
    claims: optional(3, list(resourceClaim), { ...keyedBy('name'), doc: 'Claims of the pod that are used.' }),
  },
  { doc: 'Resources that are reserved and allowed.' },
);
export type ResourceRequirements = Infer<typeof resourceRequirements>;

export const resourceName = enumOf(
  'configmaps',
  'cpu',
  'ephemeral-storage',
  'limits.cpu',
  'limits.ephemeral-storage',
  'limits.memory',
  'memory',
  'persistentvolumeclaims',
  'pods',
  'replicationcontrollers',
  'requests.cpu',
  'requests.ephemeral-storage',
  'requests.memory',
  'requests.storage',
  'resourcequotas',
  'secrets',
  'services',
  'services.loadbalancers',
  'services.nodeports',
  'storage',
);
export type ResourceName = Infer<typeof resourceName>;
