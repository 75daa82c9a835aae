import assert from 'node:assert/strict';
import { it } from 'node:test';
import { parseJson } from '../../../base/machinery/json/exact-numbers.js';
import { always, anyJson, kind, optional, string, struct } from '../../../base/machinery/schema/index.js';
import { defineResource } from '../../../objects/registry/resource-definition.js';
import { ResourceRegistry, type ServedResource } from '../../../objects/registry/resource-registry.js';
import type { EndpointServices } from '../endpoint-services.js';
import { plainJsonType } from './accept.js';
import { encodeValue } from './respond.js';
import { tableOf } from './transform.js';

const meta = struct('test.Meta', { name: optional(1, string) });
const noteKind = (version: string) =>
  kind({ group: 'test', version, kind: 'Note' }, { metadata: always(1, meta), data: optional(2, anyJson) });

it('cells of another version show numbers as they were written', () => {
  const registry = new ResourceRegistry();
  registry.register(
    defineResource({
      group: 'test',
      resource: 'notes',
      singular: 'note',
      kind: 'Note',
      namespaced: true,
      versions: [
        { version: 'v1', type: noteKind('v1') },
        { version: 'v1beta1', type: noteKind('v1beta1'), toStored: (object) => object },
      ],
      columns: [{ name: 'Data', type: 'string', cell: ({ data }) => JSON.stringify(data) }],
      strategy: {},
    }),
  );
  const services = { clock: { now: () => 0 }, names: { suffix: 'k8s.io' } } as unknown as EndpointServices;
  const text = '{"ratio":1.0,"many":[12345678901234567890,1e3]}';
  const object = { metadata: { name: 'n' }, data: parseJson(text) };
  for (const version of ['v1', 'v1beta1']) {
    const resource = registry.find('test', version, 'notes') as ServedResource;
    const { rows } = tableOf(services, resource, [object], {}, { version: 'v1', include: 'Object' }) as {
      rows: { cells: unknown[] }[];
    };
    assert.deepEqual(rows[0]?.cells, [text], version);
    assert.equal(JSON.stringify(object.data), text, 'what is shown stays as it was');
  }
});

it('YAML has sorted members, quotes what older readers take for other values, and repeats what is there twice', () => {
  const version = { groupVersion: 'apps/v1', version: 'v1' };
  const value = { versions: [version], preferredVersion: version, on: 'yes', mode: '0440', at: '2030-01-01T00:00:00Z' };
  const yaml = { ...plainJsonType, mediaType: 'yaml', contentType: 'application/yaml' } as const;
  assert.equal(
    encodeValue(value, yaml, noteKind('v1'), false).toString(),
    [
      'at: "2030-01-01T00:00:00Z"',
      'mode: "0440"',
      '"on": "yes"',
      'preferredVersion:',
      '  groupVersion: apps/v1',
      '  version: v1',
      'versions:',
      '- groupVersion: apps/v1',
      '  version: v1',
      '',
    ].join('\n'),
  );
});
