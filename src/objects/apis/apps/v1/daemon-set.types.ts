import {
  always,
  enumOf,
  type Infer,
  int32,
  int64,
  intOrString,
  kind,
  list,
  mergedBy,
  optional,
  pointer,
  required,
  string,
  struct,
  time,
} from '../../../../base/machinery/schema/index.js';
import { conditionStatus } from '../../core/v1/condition-status.types.js';
import { podTemplateSpec } from '../../core/v1/pod-spec.types.js';
import { listKind } from '../../meta/v1/list-kind.types.js';
import { objectMeta } from '../../meta/v1/object-meta.types.js';
import { labelSelector } from '../../meta/v1/selector.types.js';

export const daemonSetUpdateStrategyType = enumOf('OnDelete', 'RollingUpdate');
export type DaemonSetUpdateStrategyType = Infer<typeof daemonSetUpdateStrategyType>;

export const rollingUpdateDaemonSet = struct('apps.v1.RollingUpdateDaemonSet', {
  maxUnavailable: pointer(1, intOrString, {
    doc: 'How many may be missing during an update: a number or a percentage.',
  }),
  maxSurge: pointer(2, intOrString, {
    doc: 'How many may exist beyond the wanted number during an update: a number or a percentage.',
  }),
});
export type RollingUpdateDaemonSet = Infer<typeof rollingUpdateDaemonSet>;

export const daemonSetUpdateStrategy = struct('apps.v1.DaemonSetUpdateStrategy', {
  type: optional(1, daemonSetUpdateStrategyType),
  rollingUpdate: pointer(2, rollingUpdateDaemonSet),
});
export type DaemonSetUpdateStrategy = Infer<typeof daemonSetUpdateStrategy>;

export const daemonSetSpec = struct(
  'apps.v1.DaemonSetSpec',
  {
    selector: required(1, labelSelector, {
      nullable: true,
      doc: "Labels of the pods that belong here. Can't be changed.",
    }),
    template: required(2, podTemplateSpec, { doc: 'Description of the pods.' }),
    updateStrategy: always(3, daemonSetUpdateStrategy, { doc: 'How pods are replaced.' }),
    minReadySeconds: optional(4, int32, {
      doc: 'How long a new pod must be ready before it counts as available, in seconds.',
    }),
    revisionHistoryLimit: pointer(6, int32, { doc: 'How many old revisions are kept for going back.' }),
  },
  { doc: 'Which pods are wanted and how they are replaced.' },
);
export type DaemonSetSpec = Infer<typeof daemonSetSpec>;

export const daemonSetCondition = struct(
  'apps.v1.DaemonSetCondition',
  {
    type: required(1, string, { doc: 'Name of the aspect.' }),
    status: required(2, conditionStatus, { doc: 'True, False or Unknown.' }),
    lastTransitionTime: always(3, time, { doc: 'When the status last changed.' }),
    reason: optional(4, string, { doc: 'Short word for programs: why the status is so.' }),
    message: optional(5, string, { doc: 'Text for people: why the status is so.' }),
  },
  { doc: "One aspect of an object's state." },
);
export type DaemonSetCondition = Infer<typeof daemonSetCondition>;

export const daemonSetStatus = struct('apps.v1.DaemonSetStatus', {
  currentNumberScheduled: required(1, int32, { doc: 'Nodes with a pod that should have one.' }),
  numberMisscheduled: required(2, int32, { doc: 'Nodes with a pod that should have none.' }),
  desiredNumberScheduled: required(3, int32, { doc: 'Nodes that should have a pod.' }),
  numberReady: required(4, int32, { doc: 'Nodes whose pod is ready.' }),
  observedGeneration: optional(5, int64, { doc: 'Generation of the object that this status is about.' }),
  updatedNumberScheduled: optional(6, int32, { doc: 'Nodes with a pod of the present description.' }),
  numberAvailable: optional(7, int32, { doc: 'Nodes whose pod has been ready long enough.' }),
  numberUnavailable: optional(8, int32, { doc: 'Nodes without an available pod.' }),
  collisionCount: pointer(9, int32, { doc: 'Name collisions so far; goes into the hash of new names.' }),
  conditions: optional(10, list(daemonSetCondition), {
    ...mergedBy('type'),
    doc: 'Aspects of the state, each with its reason.',
  }),
});
export type DaemonSetStatus = Infer<typeof daemonSetStatus>;

export const daemonSet = kind(
  { group: 'apps', version: 'v1', kind: 'DaemonSet', scope: 'Namespaced' },
  {
    metadata: always(1, objectMeta),
    spec: always(2, daemonSetSpec),
    status: always(3, daemonSetStatus),
  },
  { doc: 'Keeps one pod on every node, or on every chosen one.' },
);
export type DaemonSet = Infer<typeof daemonSet>;

export const daemonSetList = listKind(daemonSet);
export type DaemonSetList = Infer<typeof daemonSetList>;
