import pg from 'pg';
import { customDefinition, define, objectsPath, undefine } from '../../e2e/support/custom-definitions.js';
import { eventually } from '../../e2e/support/test-cluster.js';
import { definitionCase, freeSchema, type HostileCase } from './definition-case.js';
import { object, spec, text, times } from './parts.js';
import { checkAnswer, definitionsPath, expectEqual, expectStatus, Fault, type HostileScene } from './scene.js';

const versionOf = (name: string, storage: boolean, schema = freeSchema) =>
  `{"name":"${name}","served":true,"storage":${storage},"schema":{"openAPIV3Schema":${schema}}}`;

function refusedNames(name: string, names: { plural?: string; kind?: string; group?: string }, metadata = '') {
  return definitionCase({ name: `names: ${name}`, expect: [400, 403, 422], metadata, ...names });
}

const approved = ',"annotations":{"api-approved.kubernetes.io":"https://github.com/x/y/pull/1"}';
const table = 'application/json;as=Table;g=meta.k8s.io;v=v1';

/** Two definitions that request the same name at the same moment through two processes: one gets it, everywhere. */
async function race(scene: HostileScene): Promise<string> {
  const made = ['left', 'right'].map((plural) =>
    customDefinition({ plural, kind: 'Contested', shortNames: ['cc'], group: 'race.example' }, [{ name: 'v1' }]),
  );
  const answers = await Promise.all(
    made.map((definition, i) => scene.clients[i % 2]?.post(definitionsPath, definition)),
  );
  for (const answer of answers) if (answer !== undefined) expectStatus('definition', answer, 201);
  const served = async () => {
    const lists = await Promise.all(scene.clients.map((client) => client.get('/apis/race.example/v1')));
    const shown = lists.map(({ body }) => (body.resources ?? []).map(({ name }: { name: string }) => name).join(','));
    return shown[0] !== '' && shown[0] === shown[1] ? (shown[0] as string) : undefined;
  };
  await eventually(async () => {
    const states = await Promise.all(
      made.map(({ metadata }) => scene.other.get(`${definitionsPath}/${metadata.name}`)),
    );
    return states.every(({ body }) => (body.status.conditions ?? []).length >= 2);
  }, 'both are judged');
  const winner = await eventually(served, 'both processes serve the same');
  if (winner.includes('left') && winner.includes('right')) throw new Fault(`both are served: ${winner}`);
  for (const { metadata } of made)
    checkAnswer('delete', await scene.client.delete(`${definitionsPath}/${metadata.name}`));
  await eventually(async () => (await scene.other.get('/apis/race.example/v1')).status === 404, 'the group is gone');
  return winner;
}

/** Names, conditions and versions that a client writes through /status. */
async function statusPath(scene: HostileScene): Promise<string> {
  const holder = customDefinition({ plural: 'holders', kind: 'Holder', group: 'status.example' }, [{ name: 'v1' }]);
  const thief = customDefinition({ plural: 'thieves', kind: 'Thief', group: 'status.example' }, [{ name: 'v1' }]);
  await define(holder, scene.clients);
  await define(thief, scene.clients);
  const path = `${definitionsPath}/thieves.status.example`;
  const shown: string[] = [];
  const conditions = [{ type: 'Established', status: 'True', reason: 'x', message: '', lastTransitionTime: null }];
  const attempts: readonly object[] = [
    { acceptedNames: { plural: 'holders', kind: 'Holder', singular: 'holder', listKind: 'HolderList' } },
    { acceptedNames: { plural: '', kind: '' } },
    { acceptedNames: { plural: '__proto__', kind: 'constructor' } },
    { acceptedNames: null },
    { acceptedNames: { plural: 'a/b', kind: 'A b' } },
    { storedVersions: null },
    { storedVersions: [] },
    { conditions },
    { conditions: null },
    { conditions: [{ type: 'Terminating', status: 'True', reason: 'x', message: 'x', lastTransitionTime: null }] },
    { conditions: 'x' },
  ];
  for (const status of attempts) {
    const answer = checkAnswer(JSON.stringify(status), await scene.other.patch(`${path}/status`, 'merge', { status }));
    shown.push(String(answer.status));
  }
  const odd = { metadata: { uid: 'x' }, spec: { group: 'other.example', scope: 'Cluster' } };
  shown.push(String(checkAnswer('odd', await scene.client.patch(`${path}/status`, 'merge', odd)).status));
  const { body } = await scene.client.get(path);
  expectEqual('group and scope', [body.spec.group, body.spec.scope], ['status.example', 'Namespaced']);
  await scene.client.patch(`${path}/status`, 'merge', { status: { conditions: [] } });
  for (const client of scene.clients) {
    for (const definition of [holder, thief]) {
      await eventually(
        async () => (await client.get(objectsPath(definition))).body?.kind === `${definition.spec.names.kind}List`,
        `${definition.metadata.name} is served under its own names`,
        20_000,
      ).catch(async (error: unknown) => {
        const { body: left } = await scene.client.get(`${definitionsPath}/${definition.metadata.name}`);
        throw new Fault(`${String(error)}: ${JSON.stringify(left.status)}`);
      });
    }
  }
  await undefine(thief, scene.clients);
  await undefine(holder, scene.clients);
  return shown.join(' ');
}

/** A definition of a group of the vendor whose conditions are written although it was not approved. */
async function conflictEstablished(scene: HostileScene): Promise<string> {
  const holder = customDefinition({ plural: 'firsts', kind: 'First', group: 'conflict.example' }, [{ name: 'v1' }]);
  const other = customDefinition({ plural: 'seconds', kind: 'First', group: 'conflict.example' }, [{ name: 'v1' }]);
  await define(holder, scene.clients);
  expectStatus('second', await scene.client.post(definitionsPath, other), 201);
  const path = `${definitionsPath}/seconds.conflict.example`;
  await eventually(async () => (await scene.client.get(path)).body.status.conditions?.length >= 2, 'conditions');
  const conditions = [
    { type: 'Established', status: 'True', reason: 'x', message: '', lastTransitionTime: '2026-01-01T00:00:00Z' },
  ];
  const written = checkAnswer('write', await scene.client.patch(`${path}/status`, 'merge', { status: { conditions } }));
  const list = await eventually(async () => {
    const lists = await Promise.all(scene.clients.map((client) => client.get('/apis/conflict.example/v1')));
    const shown = lists.map(({ body: { resources } }) =>
      resources.map(({ name, kind }: { name: string; kind: string }) => `${name}=${kind}`).join(','),
    );
    return shown[0] === shown[1] ? shown[0] : undefined;
  }, 'both processes serve the same');
  for (const client of scene.clients) {
    expectStatus('list', await client.get('/apis/conflict.example/v1/firsts'), 200);
    checkAnswer('list', await client.get('/apis/conflict.example/v1/seconds'));
    checkAnswer('openapi', await client.get('/openapi/v3/apis/conflict.example/v1'));
  }
  for (const { metadata } of [other, holder]) {
    expectStatus('delete', await scene.client.delete(`${definitionsPath}/${metadata.name}`), 200);
  }
  await eventually(async () => (await scene.other.get('/apis/conflict.example/v1')).status === 404, 'gone');
  return `${written.status} ${list}`;
}

/** Views of kinds with odd names: all others keep theirs. */
async function views(scene: HostileScene): Promise<string> {
  const long = 'v'.repeat(63);
  const wide = object(times(2_000, (i) => `"p${i}":${text}`));
  const odd = object(
    [
      `"name":${text}`,
      `"${'c'.repeat(70)}a":${text}`,
      `"${'c'.repeat(70)}b":${text}`,
      `"a\\"b":${text}`,
      `"":${text}`,
      `"xmin":${text}`,
      `"Name":${text}`,
    ].join(','),
  );
  const definitions = [
    customDefinition({ plural: 'select', kind: 'Select', group: 'views.example' }, [{ name: 'v1' }]),
    customDefinition({ plural: long, kind: 'Long', group: 'views.example' }, [{ name: 'v1' }]),
    customDefinition({ plural: long, kind: 'Long', group: 'views2.example' }, [{ name: 'v1' }]),
    customDefinition({ plural: 'twins', kind: 'Twin', group: 'views.example' }, [{ name: 'v1' }]),
    customDefinition({ plural: 'twins', kind: 'Twin', group: 'views2.example' }, [{ name: 'v1' }]),
    customDefinition({ plural: 'wides', kind: 'Wide', group: 'views.example' }, [
      { name: 'v1', schema: JSON.parse(wide) },
    ]),
    customDefinition({ plural: 'odds', kind: 'Odd', group: 'views.example' }, [
      { name: 'v1', schema: JSON.parse(odd) },
    ]),
    customDefinition({ plural: 'nuls', kind: 'Nul', group: 'views.example' }, [
      {
        name: 'v1',
        schema: { type: 'object', properties: { 'a\u0000b': { type: 'string' }, '\ud800': { type: 'string' } } },
      },
    ]),
    customDefinition({ plural: 'pods', kind: 'Pod', group: 'views.example' }, [{ name: 'v1' }]),
    customDefinition({ plural: 'laters', kind: 'Later', group: 'views.example' }, [{ name: 'v1' }]),
  ];
  const made: (typeof definitions)[number][] = [];
  const database = new pg.Client({ connectionString: scene.cluster.databaseUrl });
  await database.connect();
  try {
    for (const definition of definitions) {
      const { spec: at } = definition;
      const dry = checkAnswer(at.names.plural, await scene.client.post(`${definitionsPath}?dryRun=All`, definition));
      if (dry.status !== 201) continue;
      await define(definition, scene.clients);
      made.push(definition);
    }
    const names = async () => {
      const { rows } = await database.query<{ table_name: string }>(
        "select table_name from information_schema.views where table_schema = 'cluster' order by table_name",
      );
      return rows.map(({ table_name }) => table_name);
    };
    const isThere = async (name: string) => (await names()).includes(name);
    for (const name of ['laters', 'select', 'pods']) await eventually(() => isThere(name), `the view ${name}`, 10_000);
    expectEqual('pods', (await database.query('select count(*)::int as n from cluster.pods')).rows, [{ n: 0 }]);
    const shown = (await names()).filter((name) => /^(v{9}|twins|odds|wides|nuls|select|laters|pods)/.test(name));
    return shown.map((name) => (name.length > 30 ? `${name.slice(0, 3)}...${name.slice(-12)}` : name)).join(' ');
  } finally {
    await database.end();
    for (const definition of made) await undefine(definition, scene.clients);
  }
}

/** Names, versions, columns, selectable fields and paths that are many, odd, or taken. */
export const nameCases: readonly HostileCase[] = [
  refusedNames('group without a dot', { group: 'apps', plural: 'deployments', kind: 'Deployment' }),
  refusedNames('the core group', { group: '', plural: 'pods', kind: 'Pod' }),
  refusedNames('group of the vendor, not approved', { group: 'new.k8s.io' }),
  refusedNames('group of the vendor with __proto__', { group: 'x.kubernetes.io' }, ',"annotations":{"__proto__":"x"}'),
  refusedNames('plural __proto__', { plural: '__proto__' }),
  refusedNames('plural with a slash', { plural: 'a/b' }),
  refusedNames('plural with control characters', { plural: 'a\u0000b' }),
  refusedNames('plural in Unicode', { plural: 'ünits' }),
  refusedNames('plural with percent signs', { plural: '%2e%2e' }),
  refusedNames('plural of 64 characters', { plural: 'p'.repeat(64) }),
  refusedNames('plural of 1 MB', { plural: 'p'.repeat(1_000_000) }),
  refusedNames('group of 1 MB', { group: `${'g.'.repeat(500_000)}example` }),
  refusedNames('kind __proto__', { kind: '__proto__' }),
  refusedNames('kind of 1 MB', { kind: 'K'.repeat(1_000_000) }),
  ...['constructor', 'valueof', 'scale', 'watch', 'namespaces', 'v1', 'proxy'].map((plural) =>
    definitionCase({
      name: `names: plural ${plural}`,
      plural,
      kind: 'toString',
      group: 'odd.example',
      steps: [
        { body: () => '{"metadata":{"name":"constructor"}}', expect: [201] },
        { method: 'GET', path: '/constructor', expect: [200] },
        { method: 'GET', path: '/hasOwnProperty', expect: [404] },
      ],
    }),
  ),
  definitionCase({
    name: 'names: a kind that is built in, approved',
    group: 'apps.k8s.io',
    plural: 'deployments',
    kind: 'Deployment',
    metadata: approved,
  }),
  definitionCase({
    name: 'names: leases of the built-in group',
    group: 'coordination.k8s.io',
    plural: 'leases',
    kind: 'Lease',
    metadata: approved,
  }),
  definitionCase({
    name: 'names: list kind of a built-in kind',
    group: 'coordination.k8s.io',
    plural: 'foos',
    kind: 'LeaseList',
    metadata: approved,
  }),
  definitionCase({
    name: 'names: singular that is a built-in plural',
    group: 'coordination.k8s.io',
    plural: 'foos',
    kind: 'Foo',
    names: () => ',"singular":"leases"',
    metadata: approved,
  }),
  definitionCase({
    name: 'names: definitions themselves',
    group: 'apiextensions.k8s.io',
    plural: 'customresourcedefinitions',
    kind: 'CustomResourceDefinition',
    metadata: approved,
  }),
  definitionCase({
    name: 'names: a version of a built-in group',
    group: 'rbac.authorization.k8s.io',
    plural: 'foos',
    kind: 'Foo',
    metadata: approved,
    steps: [{ body: () => '{"metadata":{"name":"a"}}' }],
  }),
  definitionCase({
    name: 'names: short names of built-in kinds',
    names: () => ',"shortNames":["po","svc","deploy","crd"],"categories":["all"]',
  }),
  definitionCase({
    name: 'names: 250,000 short names',
    expect: [422],
    names: () => `,"shortNames":[${times(250_000, (i) => `"s${i}"`)}]`,
  }),
  definitionCase({
    name: 'names: 250,000 wrong short names',
    expect: [422],
    names: () => `,"shortNames":[${times(250_000, (i) => `"S${i}"`)}]`,
  }),
  definitionCase({
    name: 'names: 250,000 categories',
    expect: [422],
    names: () => `,"categories":[${times(250_000, (i) => `"s${i}"`)}]`,
  }),
  definitionCase({
    name: 'names: the same short name 300,000 times',
    expect: [422],
    names: () => `,"shortNames":[${times(300_000, () => '"x"')}]`,
  }),
  definitionCase({
    name: 'names: kind and plural alike',
    plural: 'same',
    kind: 'same',
    names: () => ',"singular":"same","shortNames":["same"]',
  }),
  { name: 'names: the same kind through two processes', run: race },
  { name: 'status: names and conditions by a client', run: statusPath },
  { name: 'status: established in spite of a conflict', run: conflictEstablished },
  { name: 'sql: views with odd names', run: views },
  definitionCase({
    name: 'versions: 2,000',
    expect: [422],
    versions: () => `[${times(2_000, (i) => versionOf(`v${i + 1}`, i === 0))}]`,
    steps: [
      { body: () => '{"metadata":{"name":"a"}}', expect: [201] },
      { method: 'GET', expect: [200] },
    ],
  }),
  definitionCase({
    name: 'versions: 18,000',
    expect: [422],
    versions: () => `[${times(18_000, (i) => versionOf(`v${i + 1}`, i === 0))}]`,
    steps: [{ body: () => '{"metadata":{"name":"a"}}' }],
  }),
  definitionCase({
    name: 'versions: 18,000 of one name',
    expect: [422],
    versions: () => `[${times(18_000, () => versionOf('v1', true))}]`,
  }),
  definitionCase({
    name: 'versions: 60,000 empty',
    expect: [400, 422],
    versions: () => `[${times(60_000, () => '{}')}]`,
  }),
  ...['__proto__', 'constructor', 'V1', 'v1/x', '', 'v'.repeat(64), 'v\\u0000'].map((name) =>
    definitionCase({
      name: `versions: named ${name.slice(0, 12)}`,
      versions: () => `[${versionOf('v1', true)},${versionOf(name, false)}]`,
    }),
  ),
  definitionCase({
    name: 'versions: deprecation warning of 1 MB',
    expect: [422],
    version: () => `,"deprecated":true,"deprecationWarning":"${'w'.repeat(1_000_000)}"`,
  }),
  definitionCase({
    name: 'columns: 10,000',
    version: () =>
      `,"additionalPrinterColumns":[${times(10_000, (i) => `{"name":"c${i}","type":"string","jsonPath":".spec.a${i}"}`)}]`,
    steps: [
      ...[1, 2, 3].map((i) => ({ body: () => `{"metadata":{"name":"a${i}"},"spec":{}}` })),
      { method: 'GET', accept: table },
    ],
  }),
  definitionCase({
    name: 'columns: 300 that look everywhere, over 60 objects',
    version: () =>
      `,"additionalPrinterColumns":[${times(300, (i) => `{"name":"c${i}","type":"string","jsonPath":"..a..b..a"}`)}]`,
    steps: [
      ...Array.from({ length: 60 }, (_, i) => ({
        body: () => `{"metadata":{"name":"a${i}"},"spec":{"l":[${times(3_000, () => '{"a":{"b":{"a":1}}}')}]}}`,
        expect: [201],
      })),
      { method: 'GET', accept: table },
      { method: 'GET', path: '?limit=5', accept: table },
    ],
  }),
  ...[
    '.spec[?(@.a=="b")].c',
    '.spec[0',
    '.spec[?(@',
    `.${'a.'.repeat(100_000)}`,
    `${'.a[?(@'.repeat(500)}`,
    '.__proto__.constructor',
    '.spec["__proto__"]',
    `..${'.'.repeat(4_000)}`,
    '.spec[-9999999999999:99999999999:99999999999999999]',
    '.a\\',
    ".['a','b']",
    '.\u0000',
    `.spec[${'0,'.repeat(2_000)}0]`,
  ].map((path) =>
    definitionCase({
      name: `columns: path ${path.slice(0, 24).replaceAll('\u0000', 'NUL')}`,
      version: () =>
        `,"additionalPrinterColumns":[{"name":"C","type":"integer","jsonPath":${JSON.stringify(path)}},{"name":"D","type":"date","jsonPath":${JSON.stringify(path)}}]`,
      steps: [
        { body: () => '{"metadata":{"name":"a"},"spec":[{"a":"b","c":"x"},1,null]}', expect: [201] },
        { method: 'GET', accept: table, expect: [200] },
      ],
    }),
  ),
  definitionCase({
    name: 'columns: dates of nonsense',
    version: () =>
      `,"additionalPrinterColumns":[{"name":"D","type":"date","jsonPath":".spec.d"},{"name":"I","type":"integer","jsonPath":".spec.d"},{"name":"B","type":"boolean","jsonPath":".spec.d"}]`,
    steps: [
      ...['"-999999-01-01T00:00:00Z"', '1e300', '-0', 'null', '{}', '"\\u0000"', `"${'9'.repeat(1_000_000)}"`].map(
        (value, i) => ({ body: () => `{"metadata":{"name":"d${i}"},"spec":{"d":${value}}}` }),
      ),
      { method: 'GET', accept: table, expect: [200] },
    ],
  }),
  definitionCase({
    name: 'selectable: 30,000 fields',
    expect: [422],
    schema: () => spec(`"a":${text}`),
    version: () => `,"selectableFields":[${times(30_000, (i) => `{"jsonPath":".spec.a${i}"}`)}]`,
  }),
  definitionCase({
    name: 'selectable: the same 50,000 times',
    expect: [422],
    schema: () => spec(`"a":${text}`),
    version: () => `,"selectableFields":[${times(50_000, () => '{"jsonPath":".spec.a"}')}]`,
  }),
  definitionCase({
    name: 'selectable: prototype names',
    schema: () => spec(`"__proto__":${text},"constructor":${text}`),
    version: () => ',"selectableFields":[{"jsonPath":".spec.constructor"},{"jsonPath":".spec.__proto__"}]',
    steps: [
      { body: () => '{"metadata":{"name":"a"},"spec":{}}', expect: [201] },
      {
        method: 'GET',
        path: '?fieldSelector=spec.constructor%3Dx',
        expect: [200],
        check: ({ body }) => (body.items.length === 0 ? undefined : 'selected'),
      },
      { method: 'GET', path: '?fieldSelector=spec.__proto__%3D', expect: [200] },
      { method: 'GET', path: '?fieldSelector=spec.toString%3D', expect: [400] },
    ],
  }),
  definitionCase({
    name: 'selectable: a path of 1 MB',
    expect: [422],
    version: () => `,"selectableFields":[{"jsonPath":"${'.a'.repeat(500_000)}"}]`,
  }),
  definitionCase({
    name: 'selectable: into lists',
    expect: [422],
    schema: () => spec(`"l":{"type":"array","items":${text}}`),
    version: () => ',"selectableFields":[{"jsonPath":".spec.l[0]"}]',
  }),
];
