import {
  always,
  enumOf,
  type Infer,
  kind,
  list,
  map,
  mergedBy,
  optional,
  pointer,
  required,
  string,
  struct,
  time,
} from '../../../../base/machinery/schema/index.js';
import { listKind } from '../../meta/v1/list-kind.types.js';
import { objectMeta } from '../../meta/v1/object-meta.types.js';
import { conditionStatus } from './condition-status.types.js';
import { persistentVolumeAccessMode, persistentVolumeClaimSpec } from './persistent-volume-claim-spec.types.js';
import { resourceList } from './resources.types.js';
import { volumeHealthStatus } from './volume-health.types.js';

export const persistentVolumeClaimPhase = enumOf('Bound', 'Lost', 'Pending');
export type PersistentVolumeClaimPhase = Infer<typeof persistentVolumeClaimPhase>;

export const persistentVolumeClaimConditionType = enumOf(
  'ControllerResizeError',
  'FileSystemResizePending',
  'ModifyVolumeError',
  'ModifyingVolume',
  'NodeResizeError',
  'Resizing',
  'Unused',
);
export type PersistentVolumeClaimConditionType = Infer<typeof persistentVolumeClaimConditionType>;

export const persistentVolumeClaimCondition = struct(
  'core.v1.PersistentVolumeClaimCondition',
  {
    type: required(1, persistentVolumeClaimConditionType, { doc: 'Name of the aspect.' }),
    status: required(2, conditionStatus, { doc: 'True, False or Unknown.' }),
    lastProbeTime: always(3, time, { doc: 'When the condition was last checked.' }),
    lastTransitionTime: always(4, time, { doc: 'When the status last changed.' }),
    reason: optional(5, string, { doc: 'Short word for programs: why the status is so.' }),
    message: optional(6, string, { doc: 'Text for people: why the status is so.' }),
  },
  { doc: "One aspect of an object's state." },
);
export type PersistentVolumeClaimCondition = Infer<typeof persistentVolumeClaimCondition>;

export const claimResourceStatus = enumOf(
  'ControllerResizeInProgress',
  'ControllerResizeInfeasible',
  'NodeResizeInProgress',
  'NodeResizeInfeasible',
  'NodeResizePending',
);
export type ClaimResourceStatus = Infer<typeof claimResourceStatus>;

export const persistentVolumeClaimModifyVolumeStatus = enumOf('InProgress', 'Infeasible', 'Pending');
export type PersistentVolumeClaimModifyVolumeStatus = Infer<typeof persistentVolumeClaimModifyVolumeStatus>;

export const modifyVolumeStatus = struct('core.v1.ModifyVolumeStatus', {
  targetVolumeAttributesClassName: optional(1, string),
  status: required(2, persistentVolumeClaimModifyVolumeStatus),
});
export type ModifyVolumeStatus = Infer<typeof modifyVolumeStatus>;

export const persistentVolumeClaimStatus = struct(
  'core.v1.PersistentVolumeClaimStatus',
  {
    phase: optional(1, persistentVolumeClaimPhase, { doc: 'Pending, Bound or Lost.' }),
    accessModes: optional(2, list(persistentVolumeAccessMode), { doc: 'How the volume can be mounted.' }),
    capacity: optional(3, resourceList, { doc: 'Size of the volume.' }),
    conditions: optional(4, list(persistentVolumeClaimCondition), {
      ...mergedBy('type'),
      doc: 'Aspects of the state, each with its reason.',
    }),
    allocatedResources: optional(5, resourceList),
    allocatedResourceStatuses: optional(7, map(claimResourceStatus), { mapType: 'granular' }),
    currentVolumeAttributesClassName: pointer(8, string),
    modifyVolumeStatus: pointer(9, modifyVolumeStatus),
    healthStatus: pointer(10, volumeHealthStatus, { dropped: true, doc: 'What is wrong with the volume.' }),
  },
  { doc: 'What the claim has got.' },
);
export type PersistentVolumeClaimStatus = Infer<typeof persistentVolumeClaimStatus>;

export const persistentVolumeClaim = kind(
  { group: '', version: 'v1', kind: 'PersistentVolumeClaim', scope: 'Namespaced' },
  {
    metadata: always(1, objectMeta),
    spec: always(2, persistentVolumeClaimSpec),
    status: always(3, persistentVolumeClaimStatus),
  },
  { doc: 'A request for storage.' },
);
export type PersistentVolumeClaim = Infer<typeof persistentVolumeClaim>;

export const persistentVolumeClaimList = listKind(persistentVolumeClaim);
export type PersistentVolumeClaimList = Infer<typeof persistentVolumeClaimList>;
