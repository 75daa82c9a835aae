import {
  always,
  bool,
  bytes,
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

export const serviceReference = struct('apiregistration.v1.ServiceReference', {
  namespace: optional(1, string),
  name: optional(2, string),
  port: pointer(3, int32),
});
export type ServiceReference = Infer<typeof serviceReference>;

export const apiServiceSpec = struct('apiregistration.v1.APIServiceSpec', {
  service: pointer(1, serviceReference),
  group: optional(2, string),
  version: optional(3, string),
  insecureSkipTLSVerify: optional(4, bool),
  caBundle: optional(5, bytes, {
    listType: 'atomic',
    doc: "PEM certificates that the server's certificate is checked with.",
  }),
  groupPriorityMinimum: required(7, int32),
  versionPriority: required(8, int32),
});
export type APIServiceSpec = Infer<typeof apiServiceSpec>;

export const apiServiceConditionType = enumOf('Available');
export type APIServiceConditionType = Infer<typeof apiServiceConditionType>;

export const conditionStatus = enumOf('False', 'True', 'Unknown');
export type ConditionStatus = Infer<typeof conditionStatus>;

export const apiServiceCondition = struct(
  'apiregistration.v1.APIServiceCondition',
  {
    type: required(1, apiServiceConditionType, { doc: 'Name of the aspect.' }),
    status: required(2, conditionStatus, { doc: 'True, False or Unknown.' }),
    lastTransitionTime: always(3, time, { doc: 'When the status last changed.' }),
    reason: optional(4, string, { doc: 'Short word for programs: why the status is so.' }),
    message: optional(5, string, { doc: 'Text for people: why the status is so.' }),
  },
  { doc: "One aspect of an object's state." },
);
export type APIServiceCondition = Infer<typeof apiServiceCondition>;

export const apiServiceStatus = struct('apiregistration.v1.APIServiceStatus', {
  conditions: optional(1, list(apiServiceCondition), {
    ...mergedBy('type'),
    doc: 'Aspects of the state, each with its reason.',
  }),
});
export type APIServiceStatus = Infer<typeof apiServiceStatus>;

export const apiService = kind(
  { group: 'apiregistration', version: 'v1', kind: 'APIService', scope: 'Cluster' },
  {
    metadata: always(1, objectMeta),
    spec: always(2, apiServiceSpec),
    status: always(3, apiServiceStatus),
  },
  { doc: 'A group version that another server serves.' },
);
export type APIService = Infer<typeof apiService>;

export const apiServiceList = listKind(apiService);
export type APIServiceList = Infer<typeof apiServiceList>;
