import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { inflateRawSync } from 'node:zlib';
import type { ServedResource } from '../../../objects/registry/resource-registry.js';
import { FormBlocks } from '../../../storage/cacher/form-blocks.js';
import type { KeptForms, StoredObject } from '../../../storage/storage.interface.js';
import { type Run, runsOf } from '../negotiation/packed-runs.js';
import { type Packing, type RunForm, RunPacker } from './run-packer.js';

const now = 1_000_000;
const objects = 900;

const object = (i: number): StoredObject => ({
  key: { resource: 'pods', namespace: 'default', name: `pod-${String(i).padStart(5, '0')}` },
  uid: `uid-${i}`,
  resourceVersion: BigInt(i + 1),
  json: JSON.stringify({ i, text: `${'x'.repeat(500)}äöü` }),
});

/** A form whose runs are true for a second if they are young, and for an hour otherwise. */
class AgedForm implements RunForm {
  readonly name = 'aged';
  readonly separator = Buffer.from(',');
  encoded = 0;

  constructor(private readonly isYoung: (run: Run) => boolean) {}

  readonly encode: RunForm['encode'] = (run, _forms, sink) => {
    this.encoded += 1;
    sink.copyText(run.map(({ json }) => json).join());
    return { from: now, until: now + (this.isYoung(run) ? 1_000 : 3_600_000) };
  };
}

// Only its identity matters here.
const resource = {} as ServedResource;
const packing = {
  resource,
  context: { user: undefined },
  services: { clock: { now: () => now } },
} as unknown as Packing;

async function listed(
  form: RunForm,
  pages: readonly (readonly StoredObject[])[],
  forms: KeptForms | undefined,
): Promise<string> {
  const packer = new RunPacker(packing, form);
  const texts: string[] = [];
  for (const items of pages) {
    for await (const { blocks, length } of packer.of({ items, metadata: undefined, forms })) {
      // The blocks do not end the stream.
      const ended = Buffer.concat([blocks.source.subarray(blocks.start, blocks.end), Buffer.from([3, 0])]);
      const plain = inflateRawSync(ended);
      assert.equal(plain.length, length);
      texts.push(plain.toString());
    }
  }
  return texts.join();
}

describe('a list of objects of different ages', () => {
  const items = Array.from({ length: objects }, (_, i) => object(i));
  const pages = [items.slice(0, 333), items.slice(333)];
  const expected = items.map(({ json }) => json).join();
  const runs = pages.flatMap((page) => [...runsOf(page)]);
  const places = new Map(runs.map((run, place) => [run[0]?.uid, place]));
  const placeOf = (run: Run) => places.get(run[0]?.uid) as number;
  const cases: Readonly<Record<string, (run: Run) => boolean>> = {
    'young and old in turn': (run) => placeOf(run) % 2 === 0,
    'old and young in turn': (run) => placeOf(run) % 2 === 1,
    'two young ones before each old one': (run) => placeOf(run) % 3 !== 2,
    'old ones first': (run) => placeOf(run) > runs.length / 2,
    'young ones first': (run) => placeOf(run) < runs.length / 2,
    'all young': () => true,
    'all old': () => false,
  };
  for (const [what, isYoung] of Object.entries(cases)) {
    it(`${what}: has each object once, in order, and old ones are encoded once`, async () => {
      assert.ok(runs.length > 12, String(runs.length));
      const forms = new FormBlocks(() => 64 * 1024 * 1024);
      const form = new AgedForm(isYoung);
      assert.ok((await listed(form, pages, forms)) === expected);
      assert.equal(form.encoded, runs.length);
      assert.ok((await listed(form, pages, forms)) === expected);
      assert.equal(form.encoded, runs.length + runs.filter(isYoung).length);
      assert.ok((await listed(form, pages, undefined)) === expected);
    });
  }
});
