import {
  always,
  bool,
  type Infer,
  kind,
  list,
  map,
  optional,
  pointer,
  required,
  string,
  struct,
  wrappedList,
} from '../../../../base/machinery/schema/index.js';
import { objectMeta } from '../../meta/v1/object-meta.types.js';
import { fieldSelectorRequirement, labelSelectorRequirement } from '../../meta/v1/selector.types.js';

export const fieldSelectorAttributes = struct('authorization.v1.FieldSelectorAttributes', {
  rawSelector: optional(1, string),
  requirements: optional(2, list(fieldSelectorRequirement)),
});
export type FieldSelectorAttributes = Infer<typeof fieldSelectorAttributes>;

export const labelSelectorAttributes = struct('authorization.v1.LabelSelectorAttributes', {
  rawSelector: optional(1, string),
  requirements: optional(2, list(labelSelectorRequirement)),
});
export type LabelSelectorAttributes = Infer<typeof labelSelectorAttributes>;

export const resourceAttributes = struct('authorization.v1.ResourceAttributes', {
  namespace: optional(1, string),
  verb: optional(2, string),
  group: optional(3, string),
  version: optional(4, string),
  resource: optional(5, string),
  subresource: optional(6, string),
  name: optional(7, string),
  fieldSelector: pointer(8, fieldSelectorAttributes),
  labelSelector: pointer(9, labelSelectorAttributes, { doc: 'Chooses by labels.' }),
});
export type ResourceAttributes = Infer<typeof resourceAttributes>;

export const nonResourceAttributes = struct('authorization.v1.NonResourceAttributes', {
  path: optional(1, string),
  verb: optional(2, string),
});
export type NonResourceAttributes = Infer<typeof nonResourceAttributes>;

export const extraValue = wrappedList('authorization.v1.ExtraValue', string);
export type ExtraValue = Infer<typeof extraValue>;

export const subjectAccessReviewSpec = struct('authorization.v1.SubjectAccessReviewSpec', {
  resourceAttributes: pointer(1, resourceAttributes),
  nonResourceAttributes: pointer(2, nonResourceAttributes),
  user: optional(3, string),
  groups: optional(4, list(string)),
  extra: optional(5, map(extraValue)),
  uid: optional(6, string),
});
export type SubjectAccessReviewSpec = Infer<typeof subjectAccessReviewSpec>;

export const subjectAccessReviewStatus = struct('authorization.v1.SubjectAccessReviewStatus', {
  allowed: required(1, bool),
  denied: optional(4, bool),
  reason: optional(2, string),
  evaluationError: optional(3, string),
});
export type SubjectAccessReviewStatus = Infer<typeof subjectAccessReviewStatus>;

export const localSubjectAccessReview = kind(
  { group: 'authorization', version: 'v1', kind: 'LocalSubjectAccessReview', scope: 'Namespaced' },
  {
    metadata: always(1, objectMeta),
    spec: required(2, subjectAccessReviewSpec),
    status: always(3, subjectAccessReviewStatus),
  },
  { doc: 'Asks whether somebody may do something in a namespace.' },
);
export type LocalSubjectAccessReview = Infer<typeof localSubjectAccessReview>;

export const selfSubjectAccessReviewSpec = struct('authorization.v1.SelfSubjectAccessReviewSpec', {
  resourceAttributes: pointer(1, resourceAttributes),
  nonResourceAttributes: pointer(2, nonResourceAttributes),
});
export type SelfSubjectAccessReviewSpec = Infer<typeof selfSubjectAccessReviewSpec>;

export const selfSubjectAccessReview = kind(
  { group: 'authorization', version: 'v1', kind: 'SelfSubjectAccessReview', scope: 'Cluster' },
  {
    metadata: always(1, objectMeta),
    spec: required(2, selfSubjectAccessReviewSpec),
    status: always(3, subjectAccessReviewStatus),
  },
  { doc: 'Asks whether one may do something oneself.' },
);
export type SelfSubjectAccessReview = Infer<typeof selfSubjectAccessReview>;

export const selfSubjectRulesReviewSpec = struct('authorization.v1.SelfSubjectRulesReviewSpec', {
  namespace: optional(1, string),
});
export type SelfSubjectRulesReviewSpec = Infer<typeof selfSubjectRulesReviewSpec>;

export const subjectAccessReview = kind(
  { group: 'authorization', version: 'v1', kind: 'SubjectAccessReview', scope: 'Cluster' },
  {
    metadata: always(1, objectMeta),
    spec: required(2, subjectAccessReviewSpec),
    status: always(3, subjectAccessReviewStatus),
  },
  { doc: 'Asks whether somebody may do something.' },
);
export type SubjectAccessReview = Infer<typeof subjectAccessReview>;
