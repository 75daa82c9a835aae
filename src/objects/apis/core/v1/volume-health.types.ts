import {
  always,
  enumOf,
  type Infer,
  keyedBy,
  list,
  optional,
  required,
  string,
  struct,
  time,
} from '../../../../base/machinery/schema/index.js';

export const volumeHealthStatusType = enumOf('DataLoss', 'Degraded', 'Inaccessible');
export type VolumeHealthStatusType = Infer<typeof volumeHealthStatusType>;

export const volumeHealthCondition = struct(
  'core.v1.VolumeHealthCondition',
  {
    status: required(1, volumeHealthStatusType, { doc: 'What is wrong.' }),
    reason: required(2, string, { doc: 'Short word for programs: why the status is so.' }),
    message: optional(3, string, { doc: 'Text for people: why the status is so.' }),
  },
  { doc: 'Something that is wrong with a volume.' },
);
export type VolumeHealthCondition = Infer<typeof volumeHealthCondition>;

const healthConditions = optional(2, list(volumeHealthCondition), {
  ...keyedBy('status', 'reason'),
  patch: { strategy: 'merge', key: 'status' },
  doc: 'What is wrong.',
});

export const volumeHealthStatus = struct(
  'core.v1.VolumeHealthStatus',
  {
    healthConditions: { ...healthConditions, number: 1 },
    lastTransitionTime: always(2, time, { doc: 'When the status last changed.' }),
  },
  { doc: 'How the volume of a claim is doing.' },
);
export type VolumeHealthStatus = Infer<typeof volumeHealthStatus>;

export const podVolumeHealth = struct(
  'core.v1.PodVolumeHealth',
  {
    name: required(1, string, { doc: 'Name of the volume.' }),
    healthConditions,
    lastTransitionTime: always(3, time, { doc: 'When the status last changed.' }),
  },
  { doc: 'How a volume of a pod is doing.' },
);
export type PodVolumeHealth = Infer<typeof podVolumeHealth>;
