import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import pg from 'pg';
import type { ApiObject } from '../../src/base/machinery/api-object.js';
import { cleanForCreate } from '../../src/tools/backup/recreate/clean-for-create.js';
import type { ApiResponse } from './support/api-client.js';
import { customDefinition, define } from './support/custom-definitions.js';
import { expireHistory } from './support/expire-history.js';
import { answerInTerminal, runProgram } from './support/program.js';
import { eventually, TestCluster, tokens } from './support/test-cluster.js';

// Objects are restored from the history of a real cluster, with two server processes and the control loops.

const widgets = customDefinition({ plural: 'widgets', kind: 'Widget', group: 'restore.example' }, [{ name: 'v1' }]);
const widgetsPath = '/apis/restore.example/v1/namespaces/shop/widgets';
const core = '/api/v1/namespaces/shop';
const labels = { app: 'web' };

let cluster: TestCluster;
before(async () => {
  const flags = ['--authorization-mode=RBAC', '--history-retention=24h'];
  cluster = await TestCluster.start({ servers: 2, controllers: true, flags });
  await define(widgets, [cluster.first.client, cluster.second.client]);
  await until(async () => {
    const [size] = await sql<{ retention: unknown }>('select * from cluster.history_size()');
    assert.notEqual(size?.retention, null, 'a server has switched the history on');
  });
});
after(() => cluster.stop());

/** Tries until no object fails any more. */
async function until(attempt: () => Promise<void>): Promise<void> {
  let failure: unknown;
  const isDone = () =>
    attempt().then(
      () => true,
      (error: unknown) => {
        failure = error;
        return false;
      },
    );
  await eventually(isDone, 'done').catch(() => Promise.reject(failure));
}

const restore = (...args: string[]) => runProgram('restore', '--kubeconfig', cluster.first.kubeconfig, ...args);
const client = () => cluster.second.client;
function ok<T = unknown>({ status, text, body }: ApiResponse, expected = 200): T {
  assert.equal(status, expected, text);
  return body as T;
}

const make = async (path: string, object: object): Promise<ApiObject> => ok(await client().post(path, object), 201);

async function sql<T extends object>(text: string, values: readonly unknown[] = []): Promise<T[]> {
  const database = new pg.Client({ connectionString: cluster.databaseUrl });
  await database.connect();
  try {
    return (await database.query<T>(text, [...values])).rows;
  } finally {
    await database.end();
  }
}

/** Moves all of the log into the history, as happens after hours. */
async function age(): Promise<void> {
  const upto = await expireHistory(cluster.databaseUrl);
  await until(async () => {
    const [copied] = await sql<{ done: boolean }>(
      `select bool_and(plinth.copy_to_history(p.lower)) is not false as done
       from (select lower from plinth.change_partitions where upper <= $1::bigint + 1 order by lower) p`,
      [String(upto)],
    );
    assert.equal(copied?.done, true);
  });
}

/** The fields that must be equal in an object that was deleted and restored. */
function kept(object: ApiObject): object {
  const { metadata, ...rest } = cleanForCreate(object, { addresses: true });
  const { ownerReferences = [], ...others } = metadata;
  return { ...rest, metadata: others, owners: ownerReferences.map(({ kind, name }) => `${kind}/${name}`) };
}

describe('plinth restore', () => {
  it('brings back a namespace that was deleted, with all that was in it', async () => {
    await make('/api/v1/namespaces', { metadata: { name: 'shop', labels } });
    await make(`${core}/configmaps`, { metadata: { name: 'settings' }, data: { color: 'green' } });
    await make(`${core}/secrets`, { metadata: { name: 'password' }, stringData: { p: 'hunter2' } });
    await make(`${core}/services`, { metadata: { name: 'web' }, spec: { selector: labels, ports: [{ port: 80 }] } });
    await make('/apis/apps/v1/namespaces/shop/deployments', {
      metadata: { name: 'web' },
      spec: {
        replicas: 2,
        selector: { matchLabels: labels },
        template: { metadata: { labels }, spec: { containers: [{ name: 'web', image: 'web:1' }] } },
      },
    });
    const widget = await make(widgetsPath, {
      apiVersion: 'restore.example/v1',
      kind: 'Widget',
      metadata: { name: 'wheel' },
      spec: { spokes: 36 },
    });
    const owner = { apiVersion: 'restore.example/v1', kind: 'Widget', name: 'wheel', uid: widget.metadata.uid };
    await make(`${core}/configmaps`, { metadata: { name: 'part', ownerReferences: [owner] }, data: { of: 'wheel' } });
    const paths = [
      '/api/v1/namespaces/shop',
      `${core}/configmaps/settings`,
      `${core}/configmaps/part`,
      `${core}/secrets/password`,
      `${core}/services/web`,
      '/apis/apps/v1/namespaces/shop/deployments/web',
      `${widgetsPath}/wheel`,
    ];
    const podsOf = async () => {
      const { items } = ok<{ items: ApiObject[] }>(await client().get(`${core}/pods`));
      return items.filter(({ metadata }) => metadata.deletionTimestamp === undefined);
    };
    await until(async () => assert.equal((await podsOf()).length, 2));
    const before = await Promise.all(paths.map(async (path) => ok<ApiObject>(await client().get(path))));
    const list = ok<{ metadata: { resourceVersion: string } }>(await client().get(`${core}/configmaps`));
    const { resourceVersion } = list.metadata;

    ok(await client().delete('/api/v1/namespaces/shop'));
    await until(async () => assert.equal((await client().get('/api/v1/namespaces/shop')).status, 404));
    await age();
    const gone = await client().get(`${core}/configmaps?resourceVersion=${resourceVersion}&watch=1`);
    assert.match(gone.text, /too old/);

    const plan = await restore('--namespace', 'shop', '--at', resourceVersion, '--dry-run');
    assert.equal(plan.code, 0, plan.stdout + plan.stderr);
    assert.match(plan.stdout, /create +deployments\.apps shop\/web/);
    assert.match(plan.stdout, /leave +pods shop\/web-\S+ +is made anew by its workload/);
    assert.ok(!plan.stdout.includes('hunter2') && !plan.stdout.includes('aHVudGVyMg'));
    assert.equal((await client().get('/api/v1/namespaces/shop')).status, 404, 'a dry run changes nothing');
    const unasked = await restore('--namespace', 'shop', '--at', resourceVersion);
    assert.equal(unasked.code, 2);

    const done = await restore('--namespace', 'shop', '--at', resourceVersion, '--yes');
    assert.equal(done.code, 0, `${done.stdout}\n${done.stderr}`);
    const now = await Promise.all(paths.map(async (path) => ok<ApiObject>(await client().get(path))));
    assert.deepEqual(now.map(kept), before.map(kept));
    const [wheel, part] = [now[6], now[2]];
    assert.notEqual(wheel?.metadata.uid, widget.metadata.uid);
    assert.equal(part?.metadata.ownerReferences?.[0]?.uid, wheel?.metadata.uid, 'the owner has its new uid');
    await until(async () => assert.equal((await podsOf()).length, 2));

    const again = await restore('-n', 'shop', '--at', resourceVersion, '--yes', '-o', 'json');
    assert.equal(again.code, 0, again.stderr);
    const { objects } = JSON.parse(again.stdout) as { objects: { action: string; name: string; resource: string }[] };
    const named = objects.filter(({ name }) => ['settings', 'part', 'password', 'wheel'].includes(name));
    assert.deepEqual(
      named.map(({ action }) => action),
      named.map(() => 'unchanged'),
      again.stdout,
    );
  });

  it('brings back single objects, and those with a label, as of a time', async () => {
    await make('/api/v1/namespaces', { metadata: { name: 'single' } });
    const at = '/api/v1/namespaces/single/configmaps';
    const one = await make(at, { metadata: { name: 'one', labels }, data: { n: '1' } });
    await make(at, { metadata: { name: 'two', labels }, data: { n: '1' } });
    await make(at, { metadata: { name: 'other' }, data: { n: '1' } });
    const [clock] = await sql<{ now: string }>(
      `select to_char(clock_timestamp() at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') as now`,
    );
    const time = clock?.now ?? '';
    for (const name of ['one', 'two', 'other'])
      ok(await client().patch(`${at}/${name}`, 'merge', { data: { n: '2' } }));
    ok(await client().delete(`${at}/two`));
    await age();

    const single = await restore('configmap/one', '-n', 'single', '--at', time, '--yes');
    assert.equal(single.code, 0, `${single.stdout}${single.stderr}`);
    const values = async () => {
      const { items } = ok<{ items: (ApiObject & { data?: { n?: string } })[] }>(await client().get(at));
      return Object.fromEntries(
        items.filter(({ data }) => data?.n).map(({ metadata, data }) => [metadata.name, data?.n]),
      );
    };
    assert.deepEqual(await values(), { one: '1', other: '2' });
    const restored = ok<ApiObject>(await client().get(`${at}/one`));
    assert.equal(restored.metadata.uid, one.metadata.uid);
    const labelled = await restore('-n', 'single', '-l', 'app=web', '--include', 'configmaps', '--at', time, '-y');
    assert.equal(labelled.code, 0, labelled.stderr);
    assert.deepEqual(await values(), { one: '1', two: '1', other: '2' });
  });

  it('asks in a terminal first, and writes the status when it is told to', async () => {
    await make('/api/v1/namespaces', { metadata: { name: 'asked' } });
    const at = '/api/v1/namespaces/asked/services';
    const service = await make(at, {
      metadata: { name: 'balanced' },
      spec: { type: 'LoadBalancer', ports: [{ port: 80 }] },
    });
    const status = { loadBalancer: { ingress: [{ ip: '192.0.2.7', ipMode: 'VIP' }] } };
    const reported = ok<ApiObject>(await client().put(`${at}/balanced/status`, { ...service, status }));
    ok(await client().delete(`${at}/balanced`));
    const version = reported.metadata.resourceVersion ?? '';
    const asked = (answer: string, ...more: string[]) =>
      answerInTerminal(
        answer,
        'restore',
        '--kubeconfig',
        cluster.first.kubeconfig,
        '-n',
        'asked',
        '--at',
        version,
        ...more,
      );
    for (const no of ['\n', 'no\n', 'x\n']) {
      const refused = await asked(no, 'services/balanced');
      assert.match(
        refused.text,
        /create +services asked\/balanced.*Restore 1 objects\? \[y\/N\].*nothing was changed/s,
      );
      assert.equal(refused.code, 1);
      assert.equal((await client().get(`${at}/balanced`)).status, 404);
    }
    const agreed = await asked('yes\n', 'services/balanced');
    assert.equal(agreed.code, 0, agreed.text);
    const plain = ok<ApiObject & { status: unknown }>(await client().get(`${at}/balanced`));
    assert.deepEqual(plain.status, { loadBalancer: {} });
    ok(await client().delete(`${at}/balanced`));
    const withStatus = await asked('y\n', 'services/balanced', '--status');
    assert.equal(withStatus.code, 0, withStatus.text);
    const whole = ok<ApiObject & { status: unknown }>(await client().get(`${at}/balanced`));
    assert.deepEqual(whole.status, status);
  });

  it('brings back a namespace as of a moment at which it was already being deleted', async () => {
    await make('/api/v1/namespaces', { metadata: { name: 'ending' } });
    const map = '/api/v1/namespaces/ending/configmaps/c';
    await make('/api/v1/namespaces/ending/configmaps', { metadata: { name: 'c' }, data: { n: '1' } });
    const { metadata } = ok<ApiObject>(await client().delete('/api/v1/namespaces/ending'));
    assert.ok(metadata.deletionTimestamp);
    await until(async () => assert.equal((await client().get('/api/v1/namespaces/ending')).status, 404));
    const found = await restore('--namespace', 'ending', '--at', metadata.resourceVersion as string, '-y');
    assert.match(found.stdout, /create +namespaces ending/);
    assert.equal(found.code, 0, found.stdout);
    const { metadata: now } = ok<ApiObject>(await client().get('/api/v1/namespaces/ending'));
    assert.equal(now.deletionTimestamp, undefined);
    assert.deepEqual(ok<ApiObject & { data: object }>(await client().get(map)).data, { n: '1' });
  });

  it('leaves objects that wait for a finalizer, and tells what of the past it lacks the owner of', async () => {
    await make('/api/v1/namespaces', { metadata: { name: 'held' } });
    const at = '/api/v1/namespaces/held/configmaps';
    const owner = await make(at, { metadata: { name: 'owner' } });
    const reference = { apiVersion: 'v1', kind: 'ConfigMap', name: 'owner', uid: owner.metadata.uid };
    await make(at, { metadata: { name: 'owned', ownerReferences: [reference] }, data: { n: '1' } });
    await make(at, { metadata: { name: 'waits', finalizers: ['example.com/hold'] }, data: { n: '1' } });
    const { metadata } = ok<{ metadata: { resourceVersion: string } }>(await client().get(at));
    ok(await client().delete(`${at}/owner`));
    await until(async () => assert.equal((await client().get(`${at}/owned`)).status, 404));
    assert.ok([200, 202].includes((await client().delete(`${at}/waits`)).status));
    const found = await restore(
      'configmaps/owned',
      'configmaps/waits',
      '-n',
      'held',
      '--at',
      metadata.resourceVersion,
      '-y',
    );
    assert.match(found.stdout, /leave +configmaps held\/waits +is being deleted; it waits for example\.com\/hold/);
    assert.match(found.stdout, /create +configmaps held\/owned +without its owner ConfigMap owner, which is gone/);
    assert.equal(ok<ApiObject>(await client().get(`${at}/owned`)).metadata.ownerReferences, undefined);
    ok(await client().patch(`${at}/waits`, 'merge', { metadata: { finalizers: null } }));
  });

  it('has the rights of its user, in the past as in the present', async () => {
    const { url } = cluster.first;
    const [size] = await sql<{ version: string }>('select newest_version as version from cluster.history_size()');
    const version = size?.version ?? '';
    const alice = (...args: string[]) =>
      runProgram(
        'restore',
        '--kubeconfig',
        cluster.first.kubeconfig,
        '--server',
        url,
        '--token',
        tokens.alice,
        ...args,
      );
    const refused = await alice('secrets/password', '-n', 'shop', '--at', version, '-y');
    assert.equal(refused.code, 3, refused.stderr);
    assert.match(refused.stdout, /not seen +secrets +.*forbidden/);
    const noTime = await alice('secrets/password', '-n', 'shop', '--at', '1m-ago', '-y');
    assert.equal(noTime.code, 1);
    assert.match(noTime.stderr, /forbidden.*give --at a version/);
  });

  it('refuses moments that are none, and versions that are not kept', async () => {
    for (const moment of [
      `1'; drop table plinth.history; --`,
      'tomorrow-ish',
      '3000-01-01',
      '1 ago',
      '%',
      'x'.repeat(200),
    ]) {
      const answer = await restore('configmaps/one', '-n', 'single', '--at', moment, '-y');
      assert.equal(answer.code, 1, `${moment}: ${answer.stdout}`);
      assert.match(answer.stderr, /at: /, moment);
    }
    const old = await restore('configmaps/one', '-n', 'single', '--at', '1', '-y');
    assert.match(old.stderr, /nothing of that was there at version 1\b/);
    const young = await restore('configmaps/one', '-n', 'single', '--at', '99999999999999', '-y');
    assert.equal(young.code, 3, young.stdout);
    assert.match(young.stdout, /not seen +configmaps +.*Too large resource version/);
    for (const args of [
      ['configmaps/one', '--at', '5', '-y'],
      ['x/y', '-n', 'a', '--at', '5', '-y'],
      ['-n', 'a', '-y'],
    ]) {
      assert.equal((await restore(...args)).code, 2, args.join(' '));
    }
  });
});

describe('plinth sql', () => {
  const show = (...args: string[]) => runProgram('sql', '--database-url', cluster.databaseUrl, ...args);

  it('shows objects as they were, what happened to one, and what differs', async () => {
    await make('/api/v1/namespaces', { metadata: { name: 'shown' } });
    const at = '/api/v1/namespaces/shown/configmaps';
    const first = await make(at, { metadata: { name: 'one', labels: { app: 'web' } }, data: { n: '1' } });
    await make(at, { metadata: { name: 'two' }, data: { n: '1\u001b[31m' } });
    ok(await client().patch(`${at}/one`, 'merge', { data: { n: '2' } }));
    ok(await client().delete(`${at}/two`));
    await age();
    const version = first.metadata.resourceVersion ?? '';

    const then = await show('as-of', 'configmaps', '-n', 'shown', '--at', version, '-l', 'app=web');
    assert.equal(then.code, 0, then.stderr);
    assert.deepEqual(
      then.stdout
        .trimEnd()
        .split('\n')
        .map((line) => line.split(/ {3,}/).map((cell) => cell.trim())),
      [
        ['NAMESPACE', 'NAME', 'VERSION', 'LABELS'],
        ['shown', 'one', version, 'app=web'],
      ],
    );
    const whole = await show('as-of', 'configmaps', '-n', 'shown', '--at', version, '-l', 'app=web', '-o', 'json');
    const [object] = JSON.parse(whole.stdout) as (ApiObject & { data: unknown })[];
    assert.deepEqual([object?.metadata.uid, object?.data], [first.metadata.uid, { n: '1' }]);
    const none = await show(
      'as-of',
      'configmaps',
      '-n',
      'shown',
      '--at',
      version,
      '-l',
      `app=x' or true --`,
      '-o',
      'json',
    );
    assert.deepEqual([none.code, none.stdout.trim()], [0, '[]']);

    const history = await show('history', 'configmaps/one', '-n', 'shown');
    assert.match(history.stdout, /updated/);
    assert.match(history.stdout, /^ {2}~ data\.n: "1" -> "2"$/m);
    const created = await show('history', 'configmaps/one', '-n', 'shown', '--verb', 'created', '-o', 'json');
    assert.deepEqual(
      (JSON.parse(created.stdout) as { version: string }[]).map((change) => change.version),
      [version],
    );
    const diff = await show('diff', '--from', version, '--to', 'now', '-n', 'shown');
    assert.match(diff.stdout, /configmaps +shown +one +updated +1/);
    assert.match(diff.stdout, /configmaps +shown +two +passing +2/);
    const all = [then, history, diff].map(({ stdout }) => stdout).join('');
    // biome-ignore lint/suspicious/noControlCharactersInRegex: colours are for terminals, and nobody else's at all
    assert.doesNotMatch(all, /\u001b/);
  });

  it('says what is wrong, and runs nothing that it was given', async () => {
    for (const [args, code, message] of [
      [['as-of', `pods'; drop table plinth.objects; --`], 1, /has no resource/],
      [['as-of', 'pods', '--at', `1'; drop table plinth.objects`], 1, /invalid input syntax/],
      [['history', `pods/x' or true --`, '-n', `'`], 0, undefined],
      [['diff', '--from', '3000-01-01'], 1, /is in the future/],
      [['history', 'pods'], 2, /RESOURCE\/NAME/],
      [['as-of', 'pods', '-l', 'nothing'], 2, /key=value/],
      [['whatever'], 2, /as-of RESOURCE/],
    ] as const) {
      const answer = await show(...args);
      assert.equal(answer.code, code, `${args.join(' ')}: ${answer.stderr}`);
      if (message !== undefined) assert.match(answer.stderr, message);
    }
    assert.equal((await client().get('/api/v1/namespaces/shown')).status, 200);
  });
});
