import {
  always,
  bool,
  type Infer,
  kind,
  list,
  map,
  optional,
  required,
  string,
  struct,
  wrappedList,
} from '../../../../base/machinery/schema/index.js';
import { objectMeta } from '../../meta/v1/object-meta.types.js';

export const extraValue = wrappedList('authentication.v1.ExtraValue', string);
export type ExtraValue = Infer<typeof extraValue>;

export const userInfo = struct('authentication.v1.UserInfo', {
  username: optional(1, string),
  uid: optional(2, string),
  groups: optional(3, list(string)),
  extra: optional(4, map(extraValue)),
});
export type UserInfo = Infer<typeof userInfo>;

export const selfSubjectReviewStatus = struct('authentication.v1.SelfSubjectReviewStatus', {
  userInfo: always(1, userInfo),
});
export type SelfSubjectReviewStatus = Infer<typeof selfSubjectReviewStatus>;

export const selfSubjectReview = kind(
  { group: 'authentication', version: 'v1', kind: 'SelfSubjectReview', scope: 'Cluster' },
  {
    metadata: always(1, objectMeta),
    status: always(2, selfSubjectReviewStatus),
  },
  { doc: 'Asks who one is oneself.' },
);
export type SelfSubjectReview = Infer<typeof selfSubjectReview>;

export const tokenReviewSpec = struct('authentication.v1.TokenReviewSpec', {
  token: optional(1, string),
  audiences: optional(2, list(string)),
});
export type TokenReviewSpec = Infer<typeof tokenReviewSpec>;

export const tokenReviewStatus = struct('authentication.v1.TokenReviewStatus', {
  authenticated: optional(1, bool),
  user: always(2, userInfo),
  audiences: optional(4, list(string)),
  error: optional(3, string),
});
export type TokenReviewStatus = Infer<typeof tokenReviewStatus>;

export const tokenReview = kind(
  { group: 'authentication', version: 'v1', kind: 'TokenReview', scope: 'Cluster' },
  {
    metadata: always(1, objectMeta),
    spec: required(2, tokenReviewSpec),
    status: always(3, tokenReviewStatus),
  },
  { doc: 'Asks whose token it is.' },
);
export type TokenReview = Infer<typeof tokenReview>;
