import {
  always,
  enumOf,
  type Infer,
  int32,
  kind,
  list,
  optional,
  pointer,
  string,
  struct,
} from '../../../machinery/schema/index.js';
import { listMeta } from './object-meta.types.js';

export const statusReason = enumOf(
  '',
  'AlreadyExists',
  'BadRequest',
  'Conflict',
  'Expired',
  'Forbidden',
  'Gone',
  'InternalError',
  'Invalid',
  'MethodNotAllowed',
  'NotAcceptable',
  'NotFound',
  'RequestEntityTooLarge',
  'ServerTimeout',
  'ServiceUnavailable',
  'StorageReadError',
  'Timeout',
  'TooManyRequests',
  'Unauthorized',
  'UnsupportedMediaType',
);
export type StatusReason = Infer<typeof statusReason>;

export const causeType = enumOf(
  'FieldManagerConflict',
  'FieldValueDuplicate',
  'FieldValueForbidden',
  'FieldValueInvalid',
  'FieldValueNotFound',
  'FieldValueNotSupported',
  'FieldValueRequired',
  'FieldValueTooLong',
  'FieldValueTooMany',
  'FieldValueTypeInvalid',
  'InternalError',
  'ResourceVersionTooLarge',
  'UnexpectedServerResponse',
);
export type CauseType = Infer<typeof causeType>;

export const statusCause = struct('meta.v1.StatusCause', {
  reason: optional(1, causeType),
  message: optional(2, string),
  field: optional(3, string),
});
export type StatusCause = Infer<typeof statusCause>;

export const statusDetails = struct('meta.v1.StatusDetails', {
  name: optional(1, string),
  group: optional(2, string),
  kind: optional(3, string),
  uid: optional(6, string),
  causes: optional(4, list(statusCause)),
  retryAfterSeconds: optional(5, int32),
});
export type StatusDetails = Infer<typeof statusDetails>;

export const status = kind(
  { group: '', version: 'v1', kind: 'Status' },
  {
    metadata: always(1, listMeta),
    status: optional(2, string),
    message: optional(3, string),
    reason: optional(4, statusReason),
    details: pointer(5, statusDetails),
    code: optional(6, int32),
  },
  { name: 'meta.v1.Status' },
);
export type Status = Infer<typeof status>;
