import {
  always,
  enumOf,
  type Infer,
  int32,
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
import { listKind } from '../../meta/v1/list-kind.types.js';
import { objectMeta } from '../../meta/v1/object-meta.types.js';
import { conditionStatus } from './flow-condition-status.types.js';

export const priorityLevelConfigurationReference = struct('flowcontrol.v1.PriorityLevelConfigurationReference', {
  name: required(1, string),
});
export type PriorityLevelConfigurationReference = Infer<typeof priorityLevelConfigurationReference>;

export const priorityLevelEnablement = enumOf('Exempt', 'Limited');
export type PriorityLevelEnablement = Infer<typeof priorityLevelEnablement>;

export const limitResponseType = enumOf('Queue', 'Reject');
export type LimitResponseType = Infer<typeof limitResponseType>;

export const queuingConfiguration = struct('flowcontrol.v1.QueuingConfiguration', {
  queues: always(1, int32),
  handSize: always(2, int32),
  queueLengthLimit: always(3, int32),
});
export type QueuingConfiguration = Infer<typeof queuingConfiguration>;

export const limitResponse = struct('flowcontrol.v1.LimitResponse', {
  type: required(1, limitResponseType),
  queuing: pointer(2, queuingConfiguration),
});
export type LimitResponse = Infer<typeof limitResponse>;

export const limitedPriorityLevelConfiguration = struct('flowcontrol.v1.LimitedPriorityLevelConfiguration', {
  nominalConcurrencyShares: always(1, int32, { nullable: true }),
  limitResponse: always(2, limitResponse),
  lendablePercent: pointer(3, int32),
  borrowingLimitPercent: pointer(4, int32),
});
export type LimitedPriorityLevelConfiguration = Infer<typeof limitedPriorityLevelConfiguration>;

export const exemptPriorityLevelConfiguration = struct('flowcontrol.v1.ExemptPriorityLevelConfiguration', {
  nominalConcurrencyShares: pointer(1, int32),
  lendablePercent: pointer(2, int32),
});
export type ExemptPriorityLevelConfiguration = Infer<typeof exemptPriorityLevelConfiguration>;

export const priorityLevelConfigurationSpec = struct('flowcontrol.v1.PriorityLevelConfigurationSpec', {
  type: required(1, priorityLevelEnablement),
  limited: pointer(2, limitedPriorityLevelConfiguration),
  exempt: pointer(3, exemptPriorityLevelConfiguration),
});
export type PriorityLevelConfigurationSpec = Infer<typeof priorityLevelConfigurationSpec>;

export const priorityLevelConfigurationCondition = struct(
  'flowcontrol.v1.PriorityLevelConfigurationCondition',
  {
    type: optional(1, string, { doc: 'Name of the aspect.' }),
    status: optional(2, conditionStatus, { doc: 'True, False or Unknown.' }),
    lastTransitionTime: always(3, time, { doc: 'When the status last changed.' }),
    reason: optional(4, string, { doc: 'Short word for programs: why the status is so.' }),
    message: optional(5, string, { doc: 'Text for people: why the status is so.' }),
  },
  { doc: "One aspect of an object's state." },
);
export type PriorityLevelConfigurationCondition = Infer<typeof priorityLevelConfigurationCondition>;

export const priorityLevelConfigurationStatus = struct('flowcontrol.v1.PriorityLevelConfigurationStatus', {
  conditions: optional(1, list(priorityLevelConfigurationCondition), {
    ...mergedBy('type'),
    doc: 'Aspects of the state, each with its reason.',
  }),
});
export type PriorityLevelConfigurationStatus = Infer<typeof priorityLevelConfigurationStatus>;

export const priorityLevelConfiguration = kind(
  { group: 'flowcontrol.apiserver', version: 'v1', kind: 'PriorityLevelConfiguration', scope: 'Cluster' },
  {
    metadata: always(1, objectMeta),
    spec: always(2, priorityLevelConfigurationSpec),
    status: always(3, priorityLevelConfigurationStatus),
  },
  { doc: 'Bounds for the requests of one level.' },
);
export type PriorityLevelConfiguration = Infer<typeof priorityLevelConfiguration>;

export const priorityLevelConfigurationList = listKind(priorityLevelConfiguration);
export type PriorityLevelConfigurationList = Infer<typeof priorityLevelConfigurationList>;
