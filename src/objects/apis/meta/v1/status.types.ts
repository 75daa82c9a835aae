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
} from '../../../../base/machinery/schema/index.js';
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

export const statusCause = struct(
  'meta.v1.StatusCause',
  {
    reason: optional(1, causeType, { doc: 'The kind of fault, in one word.' }),
    message: optional(2, string, { doc: 'The fault in words.' }),
    field: optional(3, string, { doc: 'The field at fault.' }),
  },
  { doc: 'One fault.' },
);
export type StatusCause = Infer<typeof statusCause>;

export const statusDetails = struct(
  'meta.v1.StatusDetails',
  {
    name: optional(1, string, { doc: 'Name of the object.' }),
    group: optional(2, string, { doc: 'Group of the object.' }),
    kind: optional(3, string, { doc: 'Kind or resource of the object.' }),
    uid: optional(6, string, { doc: 'Identity of the object.' }),
    causes: optional(4, list(statusCause), { doc: 'The single faults.' }),
    retryAfterSeconds: optional(5, int32, { doc: 'When to try again, in seconds.' }),
  },
  { doc: 'What a failure is about.' },
);
export type StatusDetails = Infer<typeof statusDetails>;

export const status = kind(
  { group: '', version: 'v1', kind: 'Status' },
  {
    metadata: always(1, listMeta),
    status: optional(2, string, { doc: 'Success or Failure.' }),
    message: optional(3, string, { doc: 'The outcome in words.' }),
    reason: optional(4, statusReason, { doc: 'The kind of failure, in one word.' }),
    details: pointer(5, statusDetails, { doc: 'What the failure is about.' }),
    code: optional(6, int32, { doc: 'HTTP status.' }),
  },
  { name: 'meta.v1.Status', doc: 'The outcome of a request that has no object to show.' },
);
export type Status = Infer<typeof status>;
