import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { decode } from '../../src/base/machinery/schema/index.js';
import { isStoredResource } from '../../src/objects/registry/resource-registry.js';
import { encodeForStorage, toStored } from '../../src/objects/registry/store/object-codec.js';
import { parseSelection } from '../../src/objects/registry/store/selection.js';
import { selects } from '../../src/storage/selection-predicate.js';
import { type TextTest, textTestOf } from '../../src/storage/text-test.js';
import { Random, testSeeds } from '../support/random.js';
import { RandomValues } from '../support/random-values.js';
import { registeredGroups } from '../support/registered-groups.js';

const objectsPerKind = 30;

const { registry } = await registeredGroups();

/** The test of a text in plinth.find_blocks. */
function passes(text: string, { prefix, words, any }: TextTest): boolean {
  if (!text.startsWith(prefix)) return true;
  return words.every((word) => text.includes(word)) && (any?.some((word) => text.includes(word)) ?? true);
}

const escaped = (value: string) => value.replaceAll(/[\\,=]/g, (c) => `\\${c}`);

describe('the test of a text', () => {
  it('is passed by the text of every object that a field selects, whatever its kind', () => {
    const tested = new Set<string>();
    for (const seed of testSeeds('text tests')) {
      const random = new Random(seed);
      for (const definition of registry.definitions()) {
        if (definition.selectableFields === undefined) continue;
        const resource = registry.find(definition.group, definition.versions[0].version, definition.resource);
        if (resource === undefined || !isStoredResource(resource)) continue;
        const values = new RandomValues(random);
        for (let i = 0; i < objectsPerKind; i++) {
          const object = decode(resource.served.type, values.valueOf(resource.served.type)).value;
          const stored = toStored(resource, object as never);
          const json = encodeForStorage(resource, stored);
          const key = { namespace: '', name: 'n' };
          const { fields } = parseSelection(resource, new URLSearchParams()).source.extract(json);
          for (const [field, value] of Object.entries(fields)) {
            const query = new URLSearchParams({ fieldSelector: `${field}=${escaped(value)}` });
            const selection = parseSelection(resource, query);
            const label = `seed ${seed}: ${definition.resource} ${query} ${json}`;
            assert.ok(selects(selection, selection.source.extract(json), key), label);
            const test = textTestOf(selection);
            if (test === undefined) continue;
            tested.add(`${definition.resource} ${field}`);
            assert.ok(passes(json, test), label);
            // An older form may get the value only when it is read.
            assert.ok(passes('{ "kind":"older"}', test), label);
          }
        }
      }
    }
    assert.ok(
      tested.has('pods spec.nodeName') && tested.has('events reason') && tested.has('secrets type'),
      `${[...tested]}`,
    );
  });

  it('is passed by the text of every object that labels select', () => {
    const keys = ['app', 'a.example/tier', 'x-y_z', 'n'];
    const values = ['', 'x', 'x.y', '7', '70', 'X_y-z'];
    const pods = registry.find('', 'v1', 'pods');
    assert.ok(pods);
    let passed = 0;
    for (const seed of testSeeds('text tests of labels')) {
      const random = new Random(seed);
      const requirement = () => {
        const key = random.pick(keys);
        const some = Array.from({ length: 1 + random.below(10) }, () => random.pick(values)).join();
        return random.pick([
          `${key}=${random.pick(values)}`,
          `${key}!=${random.pick(values)}`,
          `${key} in (${some})`,
          `${key} notin (${some})`,
          key,
          `!${key}`,
          `${key}>${random.below(80)}`,
          `${key}<${random.below(80)}`,
        ]);
      };
      for (let i = 0; i < 5_000; i++) {
        const labels = Object.fromEntries(
          keys.filter(() => random.chance(0.7)).map((key) => [key, random.pick(values)]),
        );
        const json = encodeForStorage(pods, { metadata: { name: 'n', labels }, spec: {}, status: {} } as never);
        const labelSelector = Array.from({ length: 1 + random.below(3) }, requirement).join();
        const selection = parseSelection(pods, new URLSearchParams({ labelSelector }));
        const test = textTestOf(selection);
        if (test === undefined || !selection.labels.matches(labels)) continue;
        passed += 1;
        assert.ok(passes(json, test), `seed ${seed}: ${labelSelector} ${json}`);
        assert.ok(passes('"enc:aes:key:AAAA"', test));
      }
    }
    assert.ok(passed > 500, `${passed}`);
  });
});
