import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import pg from 'pg';
import type { ApiClient } from './support/api-client.js';
import { CborClient } from './support/cbor-client.js';
import { eventually, TestCluster, tokens } from './support/test-cluster.js';

// One object with a number that Go's decoder refuses ends every list of its kind for typed and dynamic clients. So such
// a number is refused in every write, and objects that earlier releases stored are repaired when they are read.

const definitions = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
const frees = '/apis/read.example/v1/namespaces/default/frees';
const revisions = '/apis/apps/v1/namespaces/default/controllerrevisions';
const merge = 'application/merge-patch+json';
const jsonPatch = 'application/json-patch+json';
const strategic = 'application/strategic-merge-patch+json';
const apply = 'application/apply-patch+yaml';
const beyond = ['1e400', '-1e400', '9'.repeat(400)];

let cluster: TestCluster;
let client: ApiClient;

before(async () => {
  cluster = await TestCluster.start({
    servers: 1,
    controllers: true,
    accounts: false,
    flags: ['--feature-gates=CBORServingAndStorage=true'],
  });
  client = cluster.first.client;
  const free = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true };
  const spec = {
    ...free,
    properties: {
      small: { type: 'integer', format: 'int32' },
      big: { type: 'integer', format: 'int64' },
      fraction: { type: 'number', format: 'float' },
      filled: { type: 'number', default: 0.5 },
    },
  };
  const made = await client.post(definitions, {
    metadata: { name: 'frees.read.example' },
    spec: {
      group: 'read.example',
      scope: 'Namespaced',
      names: { plural: 'frees', singular: 'free', kind: 'Free' },
      versions: [
        {
          name: 'v1',
          served: true,
          storage: true,
          subresources: { status: {} },
          schema: { openAPIV3Schema: { type: 'object', properties: { spec, status: free } } },
        },
      ],
    },
  });
  assert.equal(made.status, 201, made.text);
  await eventually(async () => (await client.get(frees)).status === 200, 'the kind to be served');
});

after(() => cluster.stop());

function free(name: string, spec: string): string {
  return `{"apiVersion":"read.example/v1","kind":"Free","metadata":{"name":"${name}"},"spec":${spec}}`;
}

function revision(name: string, data: string): string {
  return `{"apiVersion":"apps/v1","kind":"ControllerRevision","metadata":{"name":"${name}"},"data":${data},"revision":1}`;
}

function send(method: string, path: string, raw: string, contentType = 'application/json') {
  return client.send(method, path, { raw, contentType });
}

describe('numbers beyond all doubles', () => {
  it('are refused in every body of a custom kind', async () => {
    assert.equal((await send('POST', frees, free('one', '{"a":1}'))).status, 201);
    const { body } = await client.get(`${frees}/one`);
    for (const number of beyond) {
      const answers = [
        await send('POST', frees, free('two', `{"x":${number}}`)),
        await send('POST', frees, free('two', `{"x":[{"y":${number}}]}`), 'application/yaml'),
        await send('PUT', `${frees}/one`, JSON.stringify(body).replace('"a":1', `"a":${number}`)),
        await send('PATCH', `${frees}/one`, `{"spec":{"x":${number}}}`, merge),
        await send('PATCH', `${frees}/one/status`, `{"status":{"x":${number}}}`, merge),
        await send('PATCH', `${frees}/one`, `[{"op":"add","path":"/spec/x","value":[${number}]}]`, jsonPatch),
        await send('PATCH', `${frees}/two?fieldManager=m`, free('two', `{"x":${number}}`), apply),
      ];
      for (const { status, text } of answers) {
        assert.equal(status, 400, text);
        assert.match(text, /beyond the numbers of 64 bits/);
      }
    }
  });

  it('are refused in raw values of built-in kinds', async () => {
    assert.equal((await send('POST', revisions, revision('one', '{"a":1}'))).status, 201);
    for (const number of beyond) {
      assert.equal((await send('POST', revisions, revision('two', `{"x":${number}}`))).status, 400);
      for (const [type, patch] of [
        [merge, `{"data":{"x":${number}}}`],
        [strategic, `{"data":{"x":${number}}}`],
        [jsonPatch, `[{"op":"replace","path":"/data","value":{"x":${number}}}]`],
      ] as const) {
        const { status, text } = await send('PATCH', `${revisions}/one`, patch, type);
        assert.equal(status, 422, text);
      }
      const applied = await send('PATCH', `${revisions}/two?fieldManager=m`, revision('two', `{"x":${number}}`), apply);
      // Like every applied value that does not fit its type, as the release answers.
      assert.equal(applied.status, 500, applied.text);
      assert.match(applied.text, /the number .* is beyond the numbers of 64 bits/);
    }
  });

  it('are refused in the schema of a definition', async () => {
    for (const member of ['"default":1e400', '"enum":[1e400]', '"example":{"a":1e400}', '"maximum":1e400']) {
      const schema = `{"type":"object","properties":{"n":{"type":"number",${member}}}}`;
      const raw = `{"metadata":{"name":"bs.read.example"},"spec":{"group":"read.example","scope":"Cluster","names":{"plural":"bs","kind":"B"},"versions":[{"name":"v1","served":true,"storage":true,"schema":{"openAPIV3Schema":${schema}}}]}}`;
      const { status, text } = await send('POST', definitions, raw);
      assert.equal(status, 400, text);
    }
  });
});

describe('formats of numbers', () => {
  it('are kept to', async () => {
    for (const spec of [
      '{"small":2147483648}',
      '{"small":-2147483649}',
      '{"big":9223372036854775808}',
      '{"fraction":3.5e38}',
    ]) {
      const { status, text } = await send('POST', frees, free('formats', spec));
      assert.equal(status, 422, text);
      assert.match(text, /must be of type/);
    }
    const raw = free('formats', '{"small":-2147483648,"big":-9223372036854775808,"fraction":3.4028234663852886e38}');
    const fitting = await send('POST', frees, raw);
    assert.equal(fitting.status, 201, fitting.text);
  });
});

describe('numbers and text', () => {
  it('are written as every client reads them, whatever the way in', async () => {
    const values =
      '{"a":1.0,"b":1e2,"c":-0.0,"d":0.10,"e":18446744073709551615,"f":"x\\ud800y","\\udfff":9007199254740993}';
    const kept = '"a":1,"b":100,"c":0,"d":0.1,"e":18446744073709552000,"f":"x\ufffdy",';
    const check = ({ status, text }: { status: number; text: string }) => {
      assert.ok(status === 200 || status === 201, text);
      assert.ok(text.includes(kept) && text.includes('"\ufffd":9007199254740993'), text);
    };
    check(await send('POST', frees, free('values', values)));
    check(await client.get(`${frees}/values`));
    await send('POST', frees, free('patched', '{}'));
    check(await send('PATCH', `${frees}/patched`, `{"spec":${values}}`, merge));
    check(await send('PATCH', `${frees}/patched`, `[{"op":"replace","path":"/spec","value":${values}}]`, jsonPatch));
    check(await send('PATCH', `${frees}/applied?fieldManager=m`, free('applied', values), apply));
    check(await send('POST', revisions, revision('values', values)));
    const maps = '/api/v1/namespaces/default/configmaps';
    const map = await send(
      'POST',
      maps,
      '{"metadata":{"name":"m","annotations":{"a":"\\udc00"}},"data":{"k":"\\ud800"}}',
    );
    assert.deepEqual(
      [map.status, map.body.data, map.body.metadata.annotations],
      [201, { k: '\ufffd' }, { a: '\ufffd' }],
    );
  });

  it('that were stored before read as repaired: got, listed, watched, in JSON and CBOR, also large ones', async () => {
    const filler = 'z'.repeat(200_000);
    for (const name of ['old-1', 'old-2']) {
      const spec = `{"filled":7,"a":1,"b":2,"c":"c","d":3,"pad":"${name === 'old-2' ? filler : ''}"}`;
      assert.equal((await send('POST', frees, free(name, spec))).status, 201);
    }
    const database = new pg.Client({ connectionString: cluster.databaseUrl });
    await database.connect();
    try {
      const { rowCount } = await database.query(
        `update plinth.objects set data = (replace(replace(replace(replace(data::text, '"a":1', '"a":1e400'), '"b":2', '"b":1.0'),
           '"c":"c"', '"c":"\\ud800"'), '"d":3', '"d":9007199254740993') || ' ')::json
         where resource = 'frees.read.example' and name like 'old-%'`,
      );
      assert.equal(rowCount, 2);
    } finally {
      await database.end();
    }
    const server = await cluster.addServer();
    const repaired = '"a":1.7976931348623157e+308,"b":1,"c":"\ufffd","d":9007199254740993,"filled":7';
    for (const name of ['old-1', 'old-2']) {
      const { text } = await server.client.get(`${frees}/${name}`);
      assert.ok(text.includes(repaired), text.slice(0, 2000));
    }
    const listed = await server.client.get(`${frees}?resourceVersion=0`);
    assert.equal(listed.text.split(repaired).length, 3);
    const cbor = new CborClient(server.url, cluster.pki.authority, tokens.admin);
    const initial = 'sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true';
    const watch = `${frees}?watch=true&timeoutSeconds=5&${initial}`;
    const watched = (await cbor.send('GET', watch, { accept: 'application/json' })).bytes.toString();
    assert.equal(watched.split(repaired).length, 3, watched.slice(0, 500));
    const list = await cbor.ask('GET', frees);
    const old = list.body.items.filter((item: { metadata: { name: string } }) => item.metadata.name.startsWith('old-'));
    for (const { spec } of old) assert.deepEqual([spec.a, spec.b, spec.c], [Number.MAX_VALUE, 1, '\ufffd']);
    // An unchanged update writes nothing; a changed one writes the repaired object.
    const body = await server.client.get(`${frees}/old-1`);
    const same = await server.client.send('PUT', `${frees}/old-1`, { raw: body.text, contentType: 'application/json' });
    assert.equal(same.body.metadata.resourceVersion, body.body.metadata.resourceVersion);
    const touched = await server.client.send('PATCH', `${frees}/old-1`, {
      raw: '{"metadata":{"labels":{"a":"b"}}}',
      contentType: merge,
    });
    assert.ok(touched.status === 200 && touched.text.includes(repaired), touched.text);
  });
});

describe('YAML bodies', () => {
  it('mean what they mean to other servers of this API', async () => {
    const pods = '/api/v1/namespaces/default/pods';
    const pod = (name: string) => `apiVersion: v1
kind: Pod
metadata:
  name: ${name}
spec:
  hostNetwork: no
  containers:
    - &base {name: c, image: i}
    - {<<: *base, name: d}
  volumes:
    - name: v
      configMap: {name: m, defaultMode: 0440}
`;
    const check = ({ status, text, body }: Awaited<ReturnType<typeof send>>) => {
      assert.equal(status, 201, text);
      const [, second] = body.spec.containers;
      assert.deepEqual([second.name, second.image], ['d', 'i']);
      assert.deepEqual([body.spec.volumes[0].configMap.defaultMode, body.spec.hostNetwork], [0o440, undefined]);
    };
    check(await send('POST', pods, pod('posted'), 'application/yaml'));
    check(await send('PATCH', `${pods}/applied?fieldManager=m`, pod('applied'), apply));
    const large = `${pod('large')}${'# comment\n'.repeat(4_000)}`;
    check(await send('POST', pods, large, 'application/yaml'));
    const infinite = await send('POST', frees, 'metadata: {name: i}\nspec: {x: .inf}', 'application/yaml');
    assert.equal(infinite.status, 400, infinite.text);
  });
});
