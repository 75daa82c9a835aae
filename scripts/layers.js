/**
 * Which folder of `src` may import which: the layers of the program, from what all others use to the commands. A folder
 * may import itself and what its row names, which stands above it. So no import goes up, and no two folders import each
 * other. Types count like values.
 *
 * A row can be for a part of a folder. Others import that part only if they name it; the parts of a folder may import
 * each other, but for one that is `apart`, such as files that run in browsers. Folders below a row that is `separate` don't
 * import each other. `wiring` is what only modules of Nest (`*.module.ts`) import in addition, which say what a folder
 * needs and when it starts. Specs put together what they test, and what only they use is in folders named `testing`: both
 * are free.
 *
 * `npm run lint` checks the imports against these rows, and that docs/flow.md shows them.
 */
const base = ['machinery', 'observability', 'config'];
/** The interface of the storage; what implements it are parts with rows of their own. */
const objects = ['apis', 'storage', 'registry'];

export const layers = [
  { folder: 'machinery', imports: [] },
  { folder: 'observability/scrape', imports: [] },
  { folder: 'observability', imports: [] },
  { folder: 'config', imports: ['machinery'] },
  { folder: 'outgoing', imports: ['machinery'] },
  { folder: 'apis', imports: ['machinery'] },
  { folder: 'cel', imports: ['machinery'] },

  { folder: 'database', imports: ['machinery', 'config'] },
  { folder: 'storage', imports: [...base, 'database'] },
  { folder: 'storage/postgres', imports: [...base, 'database'] },
  { folder: 'storage/feed', imports: base },
  { folder: 'storage/cacher', imports: base },
  { folder: 'storage/hub', imports: base },

  { folder: 'registry', imports: ['machinery', 'storage'], wiring: ['observability', 'config'] },
  { folder: 'quota', imports: ['machinery', ...objects] },
  { folder: 'custom-resources', imports: ['machinery', 'observability', 'outgoing', 'cel', ...objects] },
  { folder: 'modules', imports: ['machinery', 'cel', 'custom-resources', ...objects], separate: true },

  { folder: 'authorization', imports: [...base, 'outgoing', 'cel', ...objects] },
  { folder: 'authentication', imports: [...base, 'outgoing', 'cel', ...objects], wiring: ['storage/postgres'] },
  {
    folder: 'admission',
    imports: [...base, 'outgoing', 'cel', 'apis', 'registry', 'quota', 'authorization'],
    wiring: ['storage'],
  },
  {
    folder: 'aggregation',
    imports: ['machinery', 'observability', 'outgoing', 'apis', 'registry'],
    wiring: ['config', 'storage', 'authentication', 'admission'],
  },
  { folder: 'audit', imports: [...base, 'outgoing', 'storage/postgres'] },
  { folder: 'flow-control', imports: [...base, 'apis', 'registry'], wiring: ['storage'] },
  {
    folder: 'endpoints',
    imports: [
      ...base,
      ...['outgoing', 'storage', 'registry'],
      ...['authentication', 'admission', 'aggregation', 'audit', 'flow-control'],
    ],
    wiring: ['apis', 'storage/postgres', 'authorization'],
  },
  { folder: 'application-context.ts', imports: ['observability'] },
  {
    folder: 'large',
    imports: [...base, 'storage', 'custom-resources', 'admission', 'audit', 'endpoints', 'application-context.ts'],
    wiring: ['apis', 'registry', 'modules', 'authorization', 'authentication'],
  },
  { folder: 'advertise', imports: [...base, ...objects], wiring: ['endpoints'] },

  { folder: 'scheduler', imports: ['machinery', 'apis', 'quota'] },
  {
    folder: 'controllers',
    imports: [
      ...[...base, 'outgoing', 'cel', ...objects, 'storage/postgres', 'quota', 'custom-resources'],
      ...['authentication', 'aggregation', 'scheduler'],
    ],
    wiring: ['authorization', 'admission'],
  },
  { folder: 'simulated-nodes', imports: [...base, 'outgoing', 'apis'] },

  { folder: 'system-objects-keeper.ts', imports: ['machinery', 'observability'] },
  {
    folder: 'cluster-bootstrap.ts',
    imports: [
      ...[...base, 'storage', 'registry', 'modules', 'authorization', 'authentication', 'endpoints'],
      'system-objects-keeper.ts',
    ],
  },
  {
    folder: 'app.module.ts',
    imports: [],
    wiring: [
      ...[...base, 'storage', 'storage/postgres', 'registry', 'custom-resources', 'modules'],
      ...['authorization', 'authentication', 'admission', 'flow-control', 'endpoints', 'large', 'advertise'],
      ...['controllers', 'cluster-bootstrap.ts'],
    ],
  },
  {
    folder: 'controllers-app.module.ts',
    imports: [],
    wiring: [
      ...[...base, 'storage', 'registry', 'custom-resources', 'modules', 'authorization', 'authentication'],
      'controllers',
    ],
  },
  {
    folder: 'resources-app.module.ts',
    imports: [],
    wiring: [...base, 'storage', 'registry', 'custom-resources', 'modules', 'authorization', 'authentication'],
  },
  { folder: 'start', imports: [] },
  {
    folder: 'server.ts',
    imports: [
      ...['observability', 'config', 'authentication', 'audit', 'endpoints', 'advertise'],
      ...['application-context.ts', 'app.module.ts', 'start'],
    ],
  },

  { folder: 'console/ui', imports: ['machinery', 'observability/scrape'], apart: true },
  { folder: 'console', imports: ['machinery', 'observability', 'outgoing', 'database'] },
  { folder: 'restoring', imports: ['machinery'] },
  { folder: 'backup', imports: ['machinery', 'config', 'outgoing', 'restoring'] },
  { folder: 'restore', imports: ['machinery', 'restoring', 'backup'] },
  { folder: 'local-postgres', imports: [...base, 'database', 'storage/postgres'] },
  {
    folder: 'program',
    imports: [
      ...[...base, 'observability/scrape', 'outgoing', 'database', ...objects, 'storage/postgres', 'storage/hub'],
      ...['authorization', 'authentication', 'flow-control', 'endpoints', 'advertise', 'controllers'],
      ...['simulated-nodes'],
      ...['application-context.ts', 'controllers-app.module.ts', 'resources-app.module.ts', 'start', 'server.ts'],
      ...['console', 'backup', 'restore', 'local-postgres'],
    ],
  },
  { folder: 'main.ts', imports: ['program'] },
  { folder: 'test-library', imports: [] },
  {
    folder: 'test-host',
    imports: [
      ...[...base, 'database', 'registry', 'storage/postgres', 'custom-resources', 'advertise', 'server.ts', 'backup'],
      ...['local-postgres', 'program', 'test-library'],
    ],
  },
  { folder: 'processes.ts', imports: ['program', 'main.ts', 'test-host'] },
];
