import {
  always,
  bool,
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
import { priorityLevelConfigurationReference } from './priority-level-configuration.types.js';

export const flowDistinguisherMethodType = enumOf('ByNamespace', 'ByUser');
export type FlowDistinguisherMethodType = Infer<typeof flowDistinguisherMethodType>;

export const flowDistinguisherMethod = struct('flowcontrol.v1.FlowDistinguisherMethod', {
  type: required(1, flowDistinguisherMethodType),
});
export type FlowDistinguisherMethod = Infer<typeof flowDistinguisherMethod>;

export const subjectKind = enumOf('Group', 'ServiceAccount', 'User');
export type SubjectKind = Infer<typeof subjectKind>;

export const userSubject = struct('flowcontrol.v1.UserSubject', {
  name: required(1, string),
});
export type UserSubject = Infer<typeof userSubject>;

export const groupSubject = struct('flowcontrol.v1.GroupSubject', {
  name: required(1, string),
});
export type GroupSubject = Infer<typeof groupSubject>;

export const serviceAccountSubject = struct('flowcontrol.v1.ServiceAccountSubject', {
  namespace: required(1, string),
  name: required(2, string),
});
export type ServiceAccountSubject = Infer<typeof serviceAccountSubject>;

export const subject = struct('flowcontrol.v1.Subject', {
  kind: required(1, subjectKind),
  user: pointer(2, userSubject),
  group: pointer(3, groupSubject),
  serviceAccount: pointer(4, serviceAccountSubject),
});
export type Subject = Infer<typeof subject>;

export const resourcePolicyRule = struct('flowcontrol.v1.ResourcePolicyRule', {
  verbs: required(1, list(string), { listType: 'set', doc: 'Actions; * for all.' }),
  apiGroups: required(2, list(string), { listType: 'set', doc: 'Groups of the resources; * for all.' }),
  resources: required(3, list(string), { listType: 'set' }),
  clusterScope: optional(4, bool),
  namespaces: always(5, list(string), { listType: 'set' }),
});
export type ResourcePolicyRule = Infer<typeof resourcePolicyRule>;

export const nonResourcePolicyRule = struct('flowcontrol.v1.NonResourcePolicyRule', {
  verbs: required(1, list(string), { listType: 'set', doc: 'Actions; * for all.' }),
  nonResourceURLs: required(6, list(string), {
    listType: 'set',
    doc: 'Paths outside of resources; * at the end matches the rest.',
  }),
});
export type NonResourcePolicyRule = Infer<typeof nonResourcePolicyRule>;

export const policyRulesWithSubjects = struct('flowcontrol.v1.PolicyRulesWithSubjects', {
  subjects: required(1, list(subject)),
  resourceRules: optional(2, list(resourcePolicyRule), { doc: 'Rules for resources.' }),
  nonResourceRules: optional(3, list(nonResourcePolicyRule), { doc: 'Rules for paths that are not resources.' }),
});
export type PolicyRulesWithSubjects = Infer<typeof policyRulesWithSubjects>;

export const flowSchemaSpec = struct('flowcontrol.v1.FlowSchemaSpec', {
  priorityLevelConfiguration: required(1, priorityLevelConfigurationReference),
  matchingPrecedence: always(2, int32),
  distinguisherMethod: pointer(3, flowDistinguisherMethod),
  rules: optional(4, list(policyRulesWithSubjects)),
});
export type FlowSchemaSpec = Infer<typeof flowSchemaSpec>;

export const flowSchemaCondition = struct(
  'flowcontrol.v1.FlowSchemaCondition',
  {
    type: optional(1, string, { doc: 'Name of the aspect.' }),
    status: optional(2, conditionStatus, { doc: 'True, False or Unknown.' }),
    lastTransitionTime: always(3, time, { doc: 'When the status last changed.' }),
    reason: optional(4, string, { doc: 'Short word for programs: why the status is so.' }),
    message: optional(5, string, { doc: 'Text for people: why the status is so.' }),
  },
  { doc: "One aspect of an object's state." },
);
export type FlowSchemaCondition = Infer<typeof flowSchemaCondition>;

export const flowSchemaStatus = struct('flowcontrol.v1.FlowSchemaStatus', {
  conditions: optional(1, list(flowSchemaCondition), {
    ...mergedBy('type'),
    doc: 'Aspects of the state, each with its reason.',
  }),
});
export type FlowSchemaStatus = Infer<typeof flowSchemaStatus>;

export const flowSchema = kind(
  { group: 'flowcontrol.apiserver', version: 'v1', kind: 'FlowSchema', scope: 'Cluster' },
  {
    metadata: always(1, objectMeta),
    spec: always(2, flowSchemaSpec),
    status: always(3, flowSchemaStatus),
  },
  { doc: 'Sorts requests into priority levels.' },
);
export type FlowSchema = Infer<typeof flowSchema>;

export const flowSchemaList = listKind(flowSchema);
export type FlowSchemaList = Infer<typeof flowSchemaList>;
