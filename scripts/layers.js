/**
 * Which folder of `src` may import which: the layers of the program, from what all others use to the commands. A folder
 * may import itself and the folders that its row names, whose rows are above. So no import goes to a later row, and no
 * two folders import each other. There are no import cycles of files, either. Imports of types count, too.
 *
 * A row can be for a part of a folder; the longest matching name applies. Other folders import that part only if their
 * rows name it. A part `of` a folder may also import the folder and its parts above. Folders below a row that is
 * `separate` don't import each other. `wiring` lists what only Nest modules (`*.module.ts`) may import in addition:
 * they declare what a folder needs and when it starts. Specs, and the folders named `testing` that only specs use, may
 * import anything.
 *
 * `npm run lint` checks the imports against these rows, and that docs/flow.md shows them.
 */
const base = ['base/machinery', 'base/observability', 'base/config'];
/** `storage` is the interface of the storage; its implementations are parts with their own rows. */
const objects = ['objects/apis', 'storage', 'objects/registry'];

export const layers = [
  { folder: 'base/machinery', imports: [] },
  { folder: 'base/observability/scrape', imports: [] },
  { folder: 'base/observability', imports: [] },
  { folder: 'base/config', imports: ['base/machinery', 'base/observability'] },
  { folder: 'base/process', imports: ['base/observability'] },
  { folder: 'base/outgoing', imports: ['base/machinery'] },
  { folder: 'objects/apis', imports: ['base/machinery'] },
  { folder: 'objects/cel', imports: ['base/machinery'] },

  { folder: 'base/database', imports: ['base/machinery', 'base/config'] },
  { folder: 'storage', imports: [...base, 'base/database'] },
  { folder: 'storage/feed', of: 'storage', imports: [...base, 'base/database'] },
  { folder: 'storage/postgres', of: 'storage', imports: [...base, 'base/database'] },
  { folder: 'storage/cacher', of: 'storage', imports: base },
  { folder: 'storage/hub', of: 'storage', imports: base },

  { folder: 'objects/registry', imports: ['base/machinery', 'storage'], wiring: ['base/observability', 'base/config'] },
  { folder: 'objects/quota', imports: ['base/machinery', ...objects] },
  {
    folder: 'objects/custom-resources',
    imports: ['base/machinery', 'base/observability', 'base/outgoing', 'objects/cel', ...objects],
  },
  {
    folder: 'modules',
    imports: ['base/machinery', 'objects/cel', 'objects/custom-resources', ...objects],
    separate: true,
  },

  { folder: 'server/authorization', imports: [...base, 'base/outgoing', 'objects/cel', ...objects] },
  {
    folder: 'server/authentication',
    imports: [...base, 'base/outgoing', 'objects/cel', ...objects],
    wiring: ['storage/postgres'],
  },
  {
    folder: 'server/admission',
    imports: [
      ...base,
      'base/outgoing',
      'objects/cel',
      'objects/apis',
      'objects/registry',
      'objects/quota',
      'server/authorization',
    ],
    wiring: ['storage'],
  },
  {
    folder: 'server/aggregation',
    imports: ['base/machinery', 'base/observability', 'base/outgoing', 'objects/apis', 'objects/registry'],
    wiring: ['base/config', 'storage', 'server/authentication', 'server/admission'],
  },
  { folder: 'server/audit', imports: [...base, 'base/outgoing', 'storage/postgres'] },
  { folder: 'server/flow-control', imports: [...base, 'objects/apis', 'objects/registry'], wiring: ['storage'] },
  {
    folder: 'server/node-agents',
    imports: [...base, 'base/outgoing'],
  },
  {
    folder: 'server/endpoints',
    imports: [
      ...base,
      ...['base/outgoing', 'storage', 'objects/registry', 'server/node-agents'],
      ...['server/authentication', 'server/admission', 'server/aggregation', 'server/audit', 'server/flow-control'],
    ],
    wiring: ['objects/apis', 'storage/postgres', 'server/authorization'],
  },
  {
    folder: 'server/large',
    imports: [
      ...base,
      'storage',
      'objects/custom-resources',
      'server/admission',
      'server/audit',
      'server/endpoints',
      'base/process',
    ],
    wiring: ['objects/apis', 'objects/registry', 'modules', 'server/authorization', 'server/authentication'],
  },
  { folder: 'server/advertise', imports: [...base, ...objects], wiring: ['server/endpoints'] },

  { folder: 'loops/scheduler', imports: ['base/machinery', 'objects/cel', 'objects/apis', 'objects/quota'] },
  {
    folder: 'loops/controllers',
    imports: [
      ...[
        ...base,
        'base/outgoing',
        'objects/cel',
        ...objects,
        'storage/postgres',
        'objects/quota',
        'objects/custom-resources',
      ],
      ...['server/authentication', 'server/aggregation', 'loops/scheduler'],
    ],
    wiring: ['server/authorization', 'server/admission'],
  },
  { folder: 'nodes/connection', imports: [...base, 'base/outgoing', 'objects/apis'] },
  { folder: 'nodes/simulated', imports: [...base, 'base/outgoing', 'objects/apis', 'nodes/connection'] },
  { folder: 'nodes/agent', imports: [...base, 'base/outgoing', 'objects/apis', 'nodes/connection'] },
  { folder: 'nodes/proxy', imports: [...base, 'objects/apis', 'nodes/connection'] },
  { folder: 'nodes/dns', imports: [...base, 'objects/apis', 'nodes/connection'] },

  {
    folder: 'server/bootstrap',
    imports: [
      ...[
        ...base,
        'storage',
        'objects/registry',
        'modules',
        'server/authorization',
        'server/authentication',
        'server/endpoints',
      ],
    ],
  },
  {
    folder: 'app.module.ts',
    imports: [],
    wiring: [
      ...[...base, 'storage', 'storage/postgres', 'objects/registry', 'objects/custom-resources', 'modules'],
      ...[
        'server/authorization',
        'server/authentication',
        'server/admission',
        'server/flow-control',
        'server/node-agents',
        'server/endpoints',
        'server/large',
        'server/advertise',
      ],
      ...['loops/controllers', 'server/bootstrap'],
    ],
  },
  {
    folder: 'controllers-app.module.ts',
    imports: [],
    wiring: [
      ...[
        ...base,
        'storage',
        'objects/registry',
        'objects/custom-resources',
        'modules',
        'server/authorization',
        'server/authentication',
        'server/node-agents',
      ],
      'loops/controllers',
    ],
  },
  {
    folder: 'resources-app.module.ts',
    imports: [],
    wiring: [
      ...base,
      'storage',
      'objects/registry',
      'objects/custom-resources',
      'modules',
      'server/authorization',
      'server/authentication',
    ],
  },
  {
    folder: 'start-server.ts',
    imports: [
      ...[
        'base/observability',
        'base/config',
        'server/authentication',
        'server/audit',
        'server/endpoints',
        'server/advertise',
      ],
      ...['base/process', 'app.module.ts'],
    ],
  },

  { folder: 'tools/backup/recreate', imports: ['base/machinery'] },
  { folder: 'tools/backup', imports: ['base/machinery', 'base/config', 'base/outgoing', 'tools/backup/recreate'] },
  { folder: 'tools/backup/restore', imports: ['base/machinery', 'tools/backup/recreate', 'tools/backup'] },
  {
    folder: 'tools/console/ui',
    imports: ['base/machinery', 'base/observability/scrape', 'tools/backup/restore', 'tools/backup'],
  },
  {
    folder: 'tools/console',
    imports: ['tools/console/ui', 'base/machinery', 'base/observability', 'base/outgoing', 'base/database'],
  },
  { folder: 'tools/local-postgres', imports: [...base, 'base/database', 'storage/postgres'] },
  {
    folder: 'tools/cli',
    imports: [
      ...[
        ...base,
        'base/observability/scrape',
        'base/outgoing',
        'base/database',
        ...objects,
        'storage/postgres',
        'storage/hub',
      ],
      ...[
        'server/authorization',
        'server/authentication',
        'server/flow-control',
        'server/endpoints',
        'server/advertise',
        'loops/controllers',
      ],
      ...['nodes/connection', 'nodes/simulated', 'nodes/agent', 'nodes/proxy', 'nodes/dns'],
      ...['base/process', 'controllers-app.module.ts', 'resources-app.module.ts', 'start-server.ts'],
      ...['tools/console', 'tools/backup', 'tools/backup/restore', 'tools/local-postgres'],
    ],
  },
  { folder: 'main.ts', imports: ['tools/cli'] },
  { folder: 'tools/test-clusters/library', imports: [] },
  {
    folder: 'tools/test-clusters/host',
    imports: [
      ...[
        ...base,
        'base/database',
        'objects/registry',
        'storage/postgres',
        'objects/custom-resources',
        'server/advertise',
        'start-server.ts',
        'tools/backup',
      ],
      ...['tools/local-postgres', 'tools/cli', 'tools/test-clusters/library'],
    ],
  },
  { folder: 'agent-main.ts', imports: ['tools/cli', 'base/process'] },
  { folder: 'agent-process.ts', imports: ['agent-main.ts'] },
  { folder: 'processes.ts', imports: ['tools/cli', 'main.ts', 'tools/test-clusters/host'] },
];
