import { configMap, create, type HostileCase, many, most, paths } from './cases.js';

const { configMaps } = paths;
const manager = (i: number) =>
  `{"manager":"m${i}","operation":"Update","apiVersion":"v1","time":"2024-01-01T00:00:00Z","fieldsType":"FieldsV1","fieldsV1":{"f:data":{"f:k${i}":{}}}}`;
const nested = (open: string, close: string, depth: number) => open.repeat(depth) + close.repeat(depth);

/** Metadata that every kind has. */
export const metadataCases: readonly HostileCase[] = [
  create('labels, invalid', configMaps, () => configMap('labels-bad', `,"labels":{${many((i) => `"-k${i}":"-v"`)}}`)),
  create('labels, valid', configMaps, () => configMap('labels', `,"labels":{${many((i) => `"k${i}":"v"`)}}`)),
  create('labels, long keys', configMaps, () =>
    configMap('labels-long', `,"labels":{${many((i) => `"${`${i}`.padEnd(200_000, 'a')}":"v"`)}}`),
  ),
  create('label value of 3 MB', configMaps, () =>
    configMap('label-value', `,"labels":{"a":"${'a.'.repeat(most / 2 - 500)}!"}`),
  ),
  create('label key of 3 MB', configMaps, () =>
    configMap('label-key', `,"labels":{"${'a.'.repeat(most / 2 - 500)}/b":"v"}`),
  ),
  create('annotations, valid', configMaps, () =>
    configMap('annotations', `,"annotations":{${many((i) => `"k${i}":"v"`)}}`),
  ),
  create('annotations, invalid', configMaps, () =>
    configMap('annotations-bad', `,"annotations":{${many((i) => `"/k${i}/":"v"`)}}`),
  ),
  create('finalizers, invalid', configMaps, () =>
    configMap('finalizers-bad', `,"finalizers":[${many((i) => `"f${i}"`)}]`),
  ),
  create('finalizers, valid', configMaps, () =>
    configMap('finalizers', `,"finalizers":[${many((i) => `"a.b/${i}"`)}]`),
  ),
  create('owner references', configMaps, () =>
    configMap(
      'owners',
      `,"ownerReferences":[${many((i) => `{"apiVersion":"v1","kind":"Pod","name":"p${i}","uid":"u${i}","controller":true}`)}]`,
    ),
  ),
  create('owner references, empty', configMaps, () =>
    configMap('owners-empty', `,"ownerReferences":[${many(() => '{}')}]`),
  ),
  create('12,000 managers', configMaps, () => configMap('managers', `,"managedFields":[${many(manager)}]`)),
  create('managers, invalid', configMaps, () =>
    configMap('managers-bad', `,"managedFields":[${many(() => '{"operation":"x"}')}]`),
  ),
  create('one manager, wide set', configMaps, () =>
    configMap(
      'set-wide',
      `,"managedFields":[{"manager":"m","operation":"Update","apiVersion":"v1","fieldsType":"FieldsV1","fieldsV1":{"f:data":{${many((i) => `"f:k${i}":{}`)}}}}]`,
    ),
  ),
  create('one manager, set of keys', configMaps, () =>
    configMap(
      'set-keys',
      `,"managedFields":[{"manager":"m","operation":"Update","apiVersion":"v1","fieldsType":"FieldsV1","fieldsV1":{"f:data":{${many((i) => `"k:{\\"a\\":${i}}":{}`)}}}}]`,
    ),
  ),
  create('one manager, deep set', configMaps, () =>
    configMap(
      'set-deep',
      `,"managedFields":[{"manager":"m","operation":"Update","apiVersion":"v1","fieldsType":"FieldsV1","fieldsV1":${nested('{"f:a":', '}', 300_000).replace('{"f:a":}', '{}')}}]`,
    ),
  ),
  create('manager name of 3 MB', configMaps, () =>
    configMap(
      'manager-name',
      `,"managedFields":[{"manager":"${'\\u0001'.repeat(most / 6 - 200)}","operation":"Update"}]`,
    ),
  ),
  create('name of 3 MB', configMaps, () => configMap('a.'.repeat(most / 2 - 500))),
  create('generateName of 3 MB', configMaps, () => configMap('', `,"generateName":"${'a-'.repeat(most / 2 - 500)}"`)),
  create('unknown field, nested lists', configMaps, () =>
    configMap('nested', '', `,"x":${nested('[', ']', 1_400_000)}`),
  ),
  create('unknown field, nested objects', configMaps, () =>
    configMap('nested-objects', '', `,"x":${nested('{"a":', '}', 490_000).replace('{"a":}', '{}')}`),
  ),
  create('known field, nested lists', configMaps, () =>
    configMap('nested-known', '', `,"data":${nested('[', ']', 1_400_000)}`),
  ),
  create('unknown fields, many', configMaps, () => `{"metadata":{"name":"unknown"},${many((i) => `"x${i}":1`)}}`),
  create('duplicate keys', configMaps, () => `{"metadata":{"name":"duplicates"},"data":{${many(() => '"a":"b"')}}}`),
  create('duplicate keys, deep', configMaps, () =>
    configMap('duplicates-deep', '', `,"x":${'{"a":1,"a":'.repeat(200_000)}1${'}'.repeat(200_000)}`),
  ),
  create('escapes', configMaps, () => configMap('escapes', '', `,"data":{"a":"${'\\u00e9'.repeat(most / 6 - 100)}"}`)),
  create('quotes escaped', configMaps, () =>
    configMap('quotes', '', `,"data":{"a":"${'\\\\'.repeat(most / 4)}\\"${'\\\\'.repeat(most / 4 - 200)}"}`),
  ),
  create('numbers with exponents', configMaps, () => configMap('numbers', '', `,"x":[${many(() => '1e1')}]`)),
  create('a number of 3 MB', configMaps, () => configMap('number', '', `,"x":${'9'.repeat(most - 200)}`)),
  create('empty objects', configMaps, () => configMap('empties', '', `,"x":[${many(() => '{}')}]`)),
  create('not JSON at the end', configMaps, () => `${configMap('broken', '', `,"x":[${many(() => '1')}]`)}!`),
];
