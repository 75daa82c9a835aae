import {
  always,
  type Infer,
  int64,
  kind,
  list,
  map,
  optional,
  string,
  struct,
  time,
  wrappedList,
} from '../../../../base/machinery/schema/index.js';
import { objectMeta } from '../../meta/v1/object-meta.types.js';

export const boundObjectReference = struct('authentication.v1.BoundObjectReference', {
  kind: optional(1, string),
  apiVersion: optional(2, string),
  name: optional(3, string),
  uid: optional(4, string, { protoName: 'uID' }),
});
export type BoundObjectReference = Infer<typeof boundObjectReference>;

export const attestationValue = wrappedList('authentication.v1.AttestationValue', string);
export type AttestationValue = Infer<typeof attestationValue>;

export const tokenRequestSpec = struct('authentication.v1.TokenRequestSpec', {
  audiences: always(1, list(string)),
  expirationSeconds: always(4, int64, { nullable: true }),
  boundObjectRef: always(3, boundObjectReference, { nullable: true }),
  attestations: optional(5, map(attestationValue), { dropped: true }),
});
export type TokenRequestSpec = Infer<typeof tokenRequestSpec>;

export const tokenRequestStatus = struct('authentication.v1.TokenRequestStatus', {
  token: always(1, string),
  expirationTimestamp: always(2, time),
});
export type TokenRequestStatus = Infer<typeof tokenRequestStatus>;

export const tokenRequest = kind(
  { group: 'authentication', version: 'v1', kind: 'TokenRequest' },
  {
    metadata: always(1, objectMeta),
    spec: always(2, tokenRequestSpec),
    status: always(3, tokenRequestStatus),
  },
  { doc: 'Asks for a token of a service account.' },
);
export type TokenRequest = Infer<typeof tokenRequest>;
