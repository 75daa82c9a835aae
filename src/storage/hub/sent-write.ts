import type { Definer, Write } from '../storage.interface.js';

/** A write as it is sent to the hub: its fields without their names, which would take longer to send. */
export type SentWrite = readonly [
  op: Write['op'],
  resource: string,
  namespace: string,
  name: string,
  uid: string,
  expected: bigint | null,
  json: string,
  previousJson: string | undefined,
  inLiveNamespace: boolean | undefined,
  definedBy: Definer | undefined,
];

export function sendWrite(write: Write): SentWrite {
  const { op, key, uid, expected, json, previousJson, inLiveNamespace, definedBy } = write;
  const { resource, namespace, name } = key;
  return [op, resource, namespace, name, uid, expected, json, previousJson, inLiveNamespace, definedBy];
}

export function receiveWrite(sent: SentWrite): Write {
  const [op, resource, namespace, name, uid, expected, json, previousJson, inLiveNamespace, definedBy] = sent;
  const key = { resource, namespace, name };
  return { op, key, uid, expected, json, previousJson, inLiveNamespace, definedBy };
}
