import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
// @ts-expect-error: plain JavaScript
import { layerProblems } from '../../scripts/layer-rules.js';
// @ts-expect-error: plain JavaScript
import { layers } from '../../scripts/layers.js';

const problemsOf = layerProblems as (
  rows: readonly { readonly folder: string; readonly imports: readonly string[] }[],
  sources: readonly { readonly file: string; readonly imports: readonly string[] }[],
) => string[];

describe('layers', () => {
  const broken = [
    ['base/machinery/names.ts', 'server/large/large-request-thread.js', 'base/machinery may not import server/large'],
    ['storage/storage.interface.ts', 'objects/quota/charges.js', 'storage may not import objects/quota'],
    ['storage/feed/change-feed.ts', 'storage/postgres/finder.js', 'storage/feed may not import storage/postgres'],
    ['storage/until-ready.ts', 'storage/postgres/finder.js', 'storage may not import storage/postgres'],
    ['storage/postgres/finder.ts', 'tools/backup/make-backup.js', 'storage/postgres may not import tools/backup'],
    [
      'storage/cacher/cacher.ts',
      'server/flow-control/flow-control.js',
      'storage/cacher may not import server/flow-control',
    ],
    ['server/flow-control/flow-control.ts', 'tools/cli/serving.js', 'flow-control may not import tools/cli'],
    ['objects/registry/store/store.ts', 'storage/postgres/sequencer.js', 'registry may not import storage/postgres'],
    ['tools/console/ui/app.tsx', 'tools/console/upstream.js', 'tools/console/ui may not import tools/console'],
    ['modules/policy/a/b.ts', 'modules/core/pod/pod.strategy.js', 'modules/policy may not import modules/core'],
    ['server/admission/admission-chain.ts', 'storage/storage.interface.js', 'admission may not import storage'],
    ['cluster/a.ts', 'base/machinery/names.js', 'its folder has no row'],
    ['base/machinery/names.ts', 'cluster/a.js', 'cluster/a.js has no row'],
  ] as const;
  for (const [file, path, problem] of broken) {
    it(`refuses the import of ${path} by ${file}`, () => {
      const [found, ...more] = problemsOf(layers, [{ file, imports: [path] }]);
      assert.match(found ?? '', new RegExp(`^src/${file}: .*${problem}`));
      assert.deepEqual(more, []);
    });
  }

  const allowed = [
    ['storage/postgres/postgres-storage.ts', 'storage/feed/change-feed.js'],
    ['tools/console/console-server.ts', 'tools/console/ui/table.js'],
    ['server/admission/admission.module.ts', 'storage/storage.module.js'],
    ['modules/policy/policy-api.module.ts', 'modules/api-group-modules.js'],
    ['base/machinery/names.spec.ts', 'storage/storage.interface.js'],
  ] as const;
  for (const [file, path] of allowed) {
    it(`allows the import of ${path} by ${file}`, () => {
      assert.deepEqual(problemsOf(layers, [{ file, imports: [path] }]), []);
    });
  }

  it('refuses circles of files, also by types and through several files', () => {
    const sources = [
      { file: 'base/machinery/a.ts', imports: ['base/machinery/b.js'] },
      { file: 'base/machinery/b.ts', imports: ['base/machinery/c/index.js', 'base/machinery/d.js'] },
      { file: 'base/machinery/c/index.ts', imports: ['base/machinery/a.js'] },
      { file: 'base/machinery/d.ts', imports: ['base/machinery/e.js'] },
      { file: 'base/machinery/e.tsx', imports: [] },
    ];
    assert.deepEqual(problemsOf(layers, sources), [
      'src/base/machinery/a.ts, base/machinery/b.ts, base/machinery/c/index.ts: these files import each other in a circle',
    ]);
  });

  it('refuses rows that name a row below, and two rows for a folder', () => {
    const rows = [
      { folder: 'a', imports: ['b'] },
      { folder: 'b', imports: ['a'] },
      { folder: 'b', imports: [] },
    ];
    assert.deepEqual(problemsOf(rows, []), [
      'scripts/layers.js: a may not import b, whose row is not above',
      'scripts/layers.js: b has two rows',
    ]);
  });
});
