import type { WrittenBatch } from '../postgres/written-batch.js';
import type { Change } from '../storage.interface.js';

/**
 * A batch as it is sent to a process, without the changes of the resources that the process does not follow. The fields
 * of the changes are flattened into one array: objects with named fields take longer to send.
 */
export type SentBatch = readonly [
  newest: bigint,
  /** Undefined when it is not known whether the batch follows that version without a gap. */
  after: bigint | undefined,
  resources: readonly string[],
  /** The resources whose changes are left out. */
  withheld: readonly string[],
  changes: readonly (string | bigint | undefined)[],
];

const fieldsOfChange = 8;

/** @param withheld resources whose changes are left out */
export function sendBatch({ newest, resources, stretch }: WrittenBatch, withheld: readonly string[]): SentBatch {
  const fields: (string | bigint | undefined)[] = [];
  for (const { type, key, uid, resourceVersion, json, previousJson } of stretch?.changes ?? []) {
    if (withheld.includes(key.resource)) continue;
    fields.push(type, key.resource, key.namespace, key.name, uid, resourceVersion, json, previousJson);
  }
  return [newest, stretch?.after, [...resources], withheld, fields];
}

export function receiveBatch([newest, after, resources, withheld, fields]: SentBatch): WrittenBatch {
  if (after === undefined) return { newest, resources: new Set(resources), stretch: undefined };
  const changes: Change[] = [];
  for (let i = 0; i < fields.length; i += fieldsOfChange) {
    const [type, resource, namespace, name, uid, resourceVersion, json, previousJson] = fields.slice(
      i,
      i + fieldsOfChange,
    ) as [Change['type'], string, string, string, string, bigint, string, string | undefined];
    changes.push({ type, key: { resource, namespace, name }, uid, resourceVersion, json, previousJson });
  }
  return { newest, resources: new Set(resources), stretch: { after, changes, withheld } };
}
