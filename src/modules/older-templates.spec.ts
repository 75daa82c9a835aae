import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { registeredGroups } from '../../test/support/registered-groups.js';
import { validObject } from '../../test/support/valid-objects.js';
import type { ApiObject } from '../base/machinery/api-object.js';
import { decode } from '../base/machinery/schema/index.js';
import { isStoredKind } from '../objects/registry/resource-definition.js';
import type { StoredServedResource } from '../objects/registry/resource-registry.js';
import { encodeForStorage, parseText, storedForm, toStored } from '../objects/registry/store/object-codec.js';

const { registry } = await registeredGroups();

const texts = registry
  .definitions()
  .filter(isStoredKind)
  .map((definition) => {
    const { group, resource, versions } = definition;
    const served = registry.findStoredResource(group, versions[0].version, resource) as StoredServedResource;
    const object = decode(served.served.type, validObject(definition, { name: 'a' })).value as ApiObject;
    definition.strategy.applyDefaults?.(object);
    return { served, text: encodeForStorage(served, toStored(served, object)) };
  });

/** The JSON of an object as stored when templates still showed an empty creationTimestamp. */
function olderText(text: string, { resource, prefix }: ReturnType<typeof storedForm>): string {
  const rest = text.slice(prefix.length).replaceAll('"metadata":{', '"metadata":{"creationTimestamp":null,');
  const revisions = ' '.repeat(isStoredKind(resource.definition) ? (resource.definition.defaultsRevision ?? 0) : 0);
  return `{${prefix.slice(1 + revisions.length)}${rest.replaceAll('null,}', 'null}')}`;
}

/** Kinds that never showed an empty creationTimestamp in templates. */
const newer = new Set(['ResourceClaimTemplate']);

describe('templates in objects', () => {
  const withTemplates = texts.filter(
    ({ served, text }) =>
      !newer.has(served.definition.kind) && text.indexOf('"metadata":{', storedForm(served).prefix.length) > 0,
  );

  it('are known', () => {
    const kinds = withTemplates.map(({ served }) => served.definition.kind).sort();
    const workloads = ['CronJob', 'DaemonSet', 'Deployment', 'Job', 'PodTemplate', 'ReplicaSet'];
    assert.deepEqual(kinds, [...workloads, 'ReplicationController', 'StatefulSet']);
  });

  for (const { served, text } of withTemplates) {
    it(`show no empty time of creation, even from older stored objects: ${served.definition.kind}`, () => {
      assert.ok(!text.includes('creationTimestamp'), text);
      const older = olderText(text, storedForm(served));
      assert.ok(older.includes('"creationTimestamp":null'), older);
      // Both parse to the same object, so its next update changes nothing.
      assert.deepEqual(parseText(served, older), parseText(served, text));
    });
  }
});
