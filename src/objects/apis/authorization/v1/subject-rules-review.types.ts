import {
  always,
  bool,
  type Infer,
  kind,
  list,
  optional,
  required,
  string,
  struct,
} from '../../../../base/machinery/schema/index.js';
import { objectMeta } from '../../meta/v1/object-meta.types.js';
import { selfSubjectRulesReviewSpec } from './subject-access-review.types.js';

export const resourceRule = struct('authorization.v1.ResourceRule', {
  verbs: required(1, list(string), { doc: 'Actions; * for all.' }),
  apiGroups: optional(2, list(string), { doc: 'Groups of the resources; * for all.' }),
  resources: optional(3, list(string)),
  resourceNames: optional(4, list(string), { doc: 'Names of the objects; empty for all.' }),
});
export type ResourceRule = Infer<typeof resourceRule>;

export const nonResourceRule = struct('authorization.v1.NonResourceRule', {
  verbs: required(1, list(string), { doc: 'Actions; * for all.' }),
  nonResourceURLs: optional(2, list(string), { doc: 'Paths outside of resources; * at the end matches the rest.' }),
});
export type NonResourceRule = Infer<typeof nonResourceRule>;

export const subjectRulesReviewStatus = struct('authorization.v1.SubjectRulesReviewStatus', {
  resourceRules: required(1, list(resourceRule), { doc: 'Rules for resources.' }),
  nonResourceRules: required(2, list(nonResourceRule), { doc: 'Rules for paths that are not resources.' }),
  incomplete: required(3, bool),
  evaluationError: optional(4, string),
});
export type SubjectRulesReviewStatus = Infer<typeof subjectRulesReviewStatus>;

export const selfSubjectRulesReview = kind(
  { group: 'authorization', version: 'v1', kind: 'SelfSubjectRulesReview', scope: 'Cluster' },
  {
    metadata: always(1, objectMeta),
    spec: required(2, selfSubjectRulesReviewSpec),
    status: always(3, subjectRulesReviewStatus),
  },
  { doc: 'Asks what one may do in a namespace.' },
);
export type SelfSubjectRulesReview = Infer<typeof selfSubjectRulesReview>;
