import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, describe, it } from 'node:test';
import { gzipSync } from 'node:zlib';
import pg from 'pg';
import type { WebSocketRoute } from 'playwright-core';
import { ConsoleInBrowser, configMaps, rows } from '../console/console-in-browser.js';
import { ConsoleTab, editorContent } from '../console/console-tab.js';
import { hostileAnswers, hostileObjects, hostileText, nothingRan } from '../console/hostile-objects.js';
import { eventually, tokens } from './support/test-cluster.js';

/** The console in a real browser, over a real server. `npm run check:console` has more. */
describe('the console in a browser', () => {
  let own: ConsoleInBrowser;
  const write = (method: string, path: string, body?: object) => own.write(method, path, body);

  before(async () => {
    own = await ConsoleInBrowser.start();
  });
  after(() => own?.stop());

  it('lets in who has credentials, and forgets them at logout', async () => {
    const tab = await ConsoleTab.open(own.browser, own.running.url);
    await tab.page.fill('#login', '<img src=x onerror=alert(1)>');
    await tab.page.click('button[type=submit]');
    await tab.shows('no client configuration', '[role=alert]');
    await tab.page.fill('#login', 'wrong-token');
    await tab.page.click('button[type=submit]');
    await tab.shows('not accept', '[role=alert]');
    await tab.login(readFileSync(own.cluster.first.kubeconfig, 'utf8'));
    await tab.shows('admin', '.user');
    const stored = await tab.run<string>(
      'JSON.stringify({ ...localStorage, ...sessionStorage, cookie: document.cookie })',
    );
    assert.doesNotMatch(stored, /PRIVATE|client-key|BEGIN/);
    await tab.page.reload();
    await tab.shows('admin', '.user');
    await tab.page.click('text=Log out');
    await tab.page.waitForSelector('#login');
    assert.equal(await tab.run("localStorage.getItem('plinth-console-key')"), null);
    assert.deepEqual(await tab.page.context().cookies(), []);
    assert.deepEqual(tab.faults, []);
    await tab.close();
  });

  it('gives a user what the user may, and says what not', async () => {
    await own.inTab(async (tab) => {
      await tab.shows('alice', '.user');
      await tab.show('#/list/core/v1/secrets');
      await tab.shows(/forbidden/i, '.problem');
      await tab.show('#/sql');
      await tab.shows('--sql-url', 'main');
      await tab.show('#/object/core/v1/configmaps/default/any?tab=timeline');
      await tab.shows('--sql-url', 'main');
    }, tokens.alice);
  });

  it('can be used by keys alone, as fast as they come', async () => {
    await write('POST', configMaps, { metadata: { name: 'keyed' }, data: { a: '1' } });
    const tab = await ConsoleTab.open(own.browser, own.running.url);
    const { keyboard } = tab.page;
    const press = async (...keys: string[]) => {
      for (const key of keys) await keyboard.press(key);
    };
    await tab.page.waitForSelector('#login');
    await press('Tab');
    await keyboard.type(tokens.admin);
    await press('Tab', 'Tab', 'Enter');
    await tab.page.waitForSelector('nav section');
    await press(':');
    await keyboard.type('configmaps');
    await press('Enter');
    await tab.live();
    await press('/');
    await keyboard.type('keyed');
    await press('Enter');
    await tab.until(`${rows}.length === 1`);
    await press('j', 'Enter', 'y');
    await tab.shows('a: "1"', '.code');
    // Each key needs the object that the one before it made.
    await press('D', 'Escape', 'D', 'Escape', '?', 'Escape', 'o', 'y', 'D', 'Escape', 'E');
    await tab.until(`document.activeElement?.matches('.edit .code') === true`);
    assert.equal(await tab.page.locator('dialog').count(), 0);
    await press('Control+Home', 'ArrowDown', 'ArrowDown', 'End', 'ArrowLeft', 'Backspace');
    await keyboard.type('2');
    await press('Tab', 'Enter');
    await tab.shows('a: "2"', '.outcome.tried .added');
    await press('Enter');
    await tab.page.waitForSelector('.edit', { state: 'detached' });
    await tab.shows('a: "2"', '.code');
    await press('Escape');
    await tab.page.waitForSelector('.panel', { state: 'detached' });
    await tab.live();
    await press('j', 'Enter', 'y');
    await tab.shows('a: "2"', '.code');
    await press('D', 'Tab', 'Tab', 'Enter');
    await tab.shows('The object was deleted');
    assert.equal((await own.cluster.first.client.get(`${configMaps}/keyed`)).status, 404);
    await tab.page.waitForSelector('dialog', { state: 'detached' });
    await press('s');
    await tab.shows('Processor', '.cards');
    await press('m', 'n');
    await keyboard.type('default');
    await press('Enter');
    await tab.shows('Map of default', 'main h1');
    await press('t');
    assert.deepEqual(tab.faults, []);
    await tab.close();
  });

  it('edits after a dry run, and tells of conflicts', async () => {
    await write('POST', configMaps, { metadata: { name: 'edited' }, data: { a: '1' } });
    await own.inTab(async (tab) => {
      const change = async (from: string, to: string) => tab.fillYaml((await tab.yamlText()).replace(from, to));
      await tab.show('#/object/core/v1/configmaps/default/edited?tab=yaml');
      await tab.shows('a: "1"', '.code');
      await tab.page.keyboard.press('E');
      await tab.page.waitForSelector(`.edit ${editorContent}`);
      await change('a: "1"', 'a: [broken');
      await tab.page.click('text=Try (dry run)');
      await tab.page.waitForSelector('.edit [role=alert]');
      await change('a: [broken', 'a: "2"\nimmutible: true');
      await tab.page.click('text=Try (dry run)');
      await tab.shows(/immutible/, '.edit [role=alert]');
      await change('\nimmutible: true', '');
      await tab.page.click('text=Try (dry run)');
      await tab.shows('a: "2"', '.outcome.tried .added');
      const live = (await own.cluster.first.client.get(`${configMaps}/edited`)).body;
      assert.deepEqual(live.data, { a: '1' }, 'a dry run changes nothing');
      await write('PUT', `${configMaps}/edited`, { metadata: { name: 'edited' }, data: { a: '1', b: 'theirs' } });
      await tab.shows('Somebody else changed the object', '.conflict');
      await tab.shows('b: theirs', '.conflict .added');
      await tab.page.click('text=/^Apply$/');
      await tab.shows('Conflict', '.edit .problem');
      await tab.page.click('text=/Keep my text/');
      await tab.page.click('text=Try (dry run)');
      await tab.shows('b: theirs', '.outcome.tried .removed');
      await tab.page.click('text=/^Apply$/');
      await tab.page.waitForSelector('.edit', { state: 'detached' });
      await tab.shows('a: "2"', '.code');
      const after = (await own.cluster.first.client.get(`${configMaps}/edited`)).body;
      assert.deepEqual(after.data, { a: '2' });
    });
  });

  it('asks in SQL, and shows answers of any length', async () => {
    const value = 'hidden-from-every-reader';
    await write('POST', '/api/v1/namespaces/default/secrets', {
      metadata: { name: 'hidden' },
      stringData: { password: value },
    });
    const owner = new pg.Client({ connectionString: own.cluster.databaseUrl });
    await owner.connect();
    try {
      await own.inTab(async (tab) => {
        const question = 'textarea[aria-label="Question in SQL"]';
        const drawn = 'table.plain tbody tr';
        const ask = async (sql: string) => {
          await tab.page.fill(question, sql);
          await tab.page.press(question, 'Control+Enter');
        };
        await tab.page.click('nav >> text=SQL');
        await ask(
          `select object, data_keys, ${pg.escapeLiteral(hostileText)} from cluster.secrets where name = 'hidden'`,
        );
        await tab.shows('{password}', drawn);
        await tab.shows('<img src=x', drawn);
        const text = (await tab.page.textContent('main')) ?? '';
        assert.ok(!text.includes(value) && !text.includes(Buffer.from(value).toString('base64')));
        for (const [sql, refusal] of [
          ['select data from plinth.objects', 'permission denied'],
          ['delete from cluster.pods', 'syntax error'],
          ['select 1; drop schema cluster', 'multiple commands'],
          [`select pg_read_file('/etc/passwd')`, 'permission denied'],
          [`select '${hostileText.replaceAll("'", "''")}'::int`, '<img src=x'],
        ] as const) {
          await ask(sql);
          await tab.shows(refusal, '[role=alert]');
        }
        await tab.page.fill(question, '');
        await tab.page.locator(question).pressSequentially('select count(*) from cluster.configm');
        await tab.shows('configmaps', '.offered');
        await tab.page.keyboard.press('Tab');
        assert.equal(await tab.page.inputValue(question), 'select count(*) from cluster.configmaps');
        await tab.page.fill('[aria-label="Name of the question"]', hostileText);
        await tab.page.click('text=/^Keep$/');
        await ask(`select '=1+1' as a, 'x' as b`);
        const download = tab.page.waitForEvent('download');
        await tab.page.click('text=Download CSV');
        assert.equal(readFileSync(await (await download).path(), 'utf8'), "a,b\r\n'=1+1,x\r\n");
        await tab.page.locator('.pair button').filter({ hasText: '<img' }).first().click();
        assert.equal(await tab.page.inputValue(question), 'select count(*) from cluster.configmaps');
        await ask('select i as "<img src=x onerror=alert(1)>" from generate_series(1, 100000) i');
        await tab.shows('100000 rows', '[role=status]');
        assert.equal(await tab.page.locator(drawn).count(), 500);
        await tab.page.click('text=Show 500 more of 99500');
        await tab.until(`document.querySelectorAll('${drawn}').length === 1000`);
        await tab.page.fill(question, 'select count(*) from cluster.configmaps');
        await tab.page.click('text=/^Explain$/');
        await tab.shows(/actual time=.*Execution Time/s, '.plan');
        await ask('select pg_sleep(600)');
        await tab.page.click('text=/^Stop$/');
        await tab.page.waitForSelector('text=/^Stop$/', { state: 'detached' });
        await eventually(async () => {
          const left = await owner.query(`select from pg_stat_activity where application_name = 'plinth-console'`);
          return left.rowCount === 0;
        }, 'the end of the question');
      });
    } finally {
      await owner.end();
    }
  });

  it('shows what happened to an object, and what happens', async () => {
    await write('POST', configMaps, { metadata: { name: 'told' }, data: { a: 'first' } });
    await write('PUT', `${configMaps}/told`, { metadata: { name: 'told' }, data: { a: 'second' } });
    await own.inTab(async (tab) => {
      await tab.show('#/object/core/v1/configmaps/default/told?tab=timeline');
      await tab.shows('created', '.timeline li:last-child');
      await tab.shows('first', '.timeline li:first-child .removed');
      await tab.shows('second', '.timeline li:first-child .added');
      await write('PUT', `${configMaps}/told`, { metadata: { name: 'told' }, data: { a: 'third' } });
      await tab.shows('third', '.timeline li:first-child .added');
    });
  });

  it('leads to kinds by purpose, and shows an object beside its list', async () => {
    for (const name of ['beside-a', 'beside-b'])
      await write('POST', configMaps, { metadata: { name }, data: { name } });
    await own.inTab(async (tab) => {
      const group = (title: string) =>
        tab.page.locator('nav section', { has: tab.page.locator(`h2:has-text("${title}")`) });
      await group('Access').locator('h2 button').click();
      await group('Access').locator('text=Cluster roles').waitFor();
      await group('Access').locator('h2 button').click();
      await group('Access').locator('text=Cluster roles').waitFor({ state: 'detached' });
      await tab.page.click('[aria-label="Keep Config maps at the top"]');
      await group('Favourites').locator('text=Config maps').click();
      await tab.live();
      await tab.page.fill('#find', 'beside-');
      await tab.until(`${rows}.length === 2`);
      await tab.page.click('tr[data-key] >> text=beside-a');
      await tab.shows('beside-a', '.panel h1');
      await tab.page.keyboard.press('j');
      await tab.shows('beside-b', '.panel h1');
      await tab.page.keyboard.press('Escape');
      await tab.page.waitForSelector('.panel', { state: 'detached' });
      await tab.page.reload();
      await group('Favourites').locator('text=Config maps').waitFor();
      await tab.page.fill('#find', 'nothing has this name');
      await tab.page.click('text=Clear the filters');
      await tab.until(`${rows}.length > 1`);
    });
  });

  it('shows first what is wrong, and why', async () => {
    const container = { name: 'app', image: 'example.com/missing:1' };
    const pod = { metadata: { name: 'broken' }, spec: { containers: [container] } };
    await write('POST', '/api/v1/namespaces/default/pods', pod);
    const waiting = { reason: 'ImagePullBackOff', message: 'there is no such image' };
    const statuses = [{ ...container, imageID: '', ready: false, restartCount: 0, state: { waiting } }];
    await write('PUT', '/api/v1/namespaces/default/pods/broken/status', {
      ...pod,
      status: { phase: 'Pending', containerStatuses: statuses },
    });
    await write('POST', '/api/v1/nodes', { metadata: { name: 'silent' } });
    await write('PUT', '/api/v1/nodes/silent/status', {
      metadata: { name: 'silent' },
      status: { conditions: [{ type: 'Ready', status: 'Unknown', message: 'no word from it' }] },
    });
    await write('POST', '/api/v1/namespaces/default/events', {
      metadata: { name: 'late' },
      involvedObject: { apiVersion: 'v1', kind: 'Pod', name: 'broken', namespace: 'default' },
      ...{ reason: 'BackOff', message: 'it was tried again', type: 'Warning', count: 3 },
      lastTimestamp: new Date().toISOString().replace(/\.\d+/, ''),
    });
    await own.inTab(async (tab) => {
      await tab.shows('need attention', '.verdict');
      await tab.shows(/ImagePullBackOff.*broken.*there is no such image/s, '.trouble li');
      await tab.shows(/NotReady.*silent.*no word from it/s, '.trouble li');
      await tab.shows(/BackOff.*Pod broken.*it was tried again.*3 times/s, '.trouble li');
      await tab.page.click('.trouble a >> text=broken');
      await tab.shows(/ImagePullBackOff.*there is no such image/s, '.state');
    });
    await write('DELETE', '/api/v1/nodes/silent');
  });

  it('selects rows, labels and deletes them, and keeps columns and filters', async () => {
    for (const name of ['many-a', 'many-b', 'many-c']) await write('POST', configMaps, { metadata: { name } });
    await own.inTab(async (tab) => {
      await tab.show('#/list/core/v1/configmaps?ns=default&q=many-');
      await tab.until(`${rows}.length === 3`);
      await tab.page.check('[aria-label="Select all rows"]');
      await tab.page.click('.bulk >> text=Label…');
      await tab.page.fill('dialog input.line', 'stage=old');
      await tab.page.click('dialog button[type=button] >> text=/^Label$/');
      await tab.page.waitForSelector('dialog', { state: 'detached' });
      await tab.page.click('text=Columns');
      await tab.page.check('.sheet label:has-text("stage") input');
      await tab.page.keyboard.press('Escape');
      await tab.shows('old', '.table tbody td');
      await tab.page.uncheck('[aria-label="Select many-b"]');
      await tab.page.click('.bulk >> text=Delete…');
      await tab.page.click('dialog button.solid');
      await tab.page.waitForSelector('dialog', { state: 'detached' });
      await tab.until(`${rows}.length === 1`);
      await tab.shows('many-b', '.table tbody tr');
      await tab.page.click('[aria-label="Save these filters"]');
      await tab.page.click('.sheet >> text=/^Save$/');
      await tab.show('#/');
      await tab.page.click('nav >> text=Config maps: many-, default');
      await tab.until(`${rows}.length === 1`);
    });
  });

  it('creates several objects from pasted text, after a dry run', async () => {
    const map = (name: string, data: string) =>
      `apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: ${name}\n  namespace: default\n${data}`;
    await own.inTab(async (tab) => {
      await tab.page.keyboard.press('c');
      await tab.fillYaml(`${map('pasted-a', 'data: {a: "1"}')}\n---\n${map('pasted-b', 'dat: {}')}\n`);
      await tab.page.click('text=Try (dry run)');
      await tab.shows('would be created', '.outcomes li');
      await tab.shows(/refused.*dat/s, '.outcomes li');
      assert.equal((await own.cluster.first.client.get(`${configMaps}/pasted-a`)).status, 404);
      await tab.fillYaml(`${map('pasted-a', 'data: {a: "1"}')}\n---\n${map('pasted-b', 'data: {}')}\n`);
      await tab.page.click('text=Try (dry run)');
      await tab.page.click('text=Apply all 2');
      await tab.shows(/^created/, '.outcomes li:nth-child(2)');
      assert.equal((await own.cluster.first.client.get(`${configMaps}/pasted-b`)).status, 200);
    });
  });

  it('does the work of a day with the rights of the user, and says what they lack', async () => {
    const template = (image: string) => ({
      metadata: { labels: { app: 'daily' } },
      spec: { containers: [{ name: 'app', image }] },
    });
    const selector = { matchLabels: { app: 'daily' } };
    const deployments = '/apis/apps/v1/namespaces/default/deployments';
    const deployment = { metadata: { name: 'daily' }, spec: { replicas: 1, selector, template: template('a:2') } };
    const { metadata } = (await write('POST', deployments, deployment)) as { metadata: { uid: string } };
    // No control loop of deployments runs here: the test makes what it would.
    for (const [name, revision] of [
      ['daily-1', '1'],
      ['daily-2', '2'],
    ] as const) {
      const owner = { apiVersion: 'apps/v1', kind: 'Deployment', name: 'daily', uid: metadata.uid, controller: true };
      const annotations = { 'deployment.kubernetes.io/revision': revision };
      await write('POST', '/apis/apps/v1/namespaces/default/replicasets', {
        metadata: { name, annotations, labels: { app: 'daily' }, ownerReferences: [owner] },
        spec: { replicas: 0, selector, template: template(`a:${revision}`) },
      });
    }
    await write('POST', '/apis/batch/v1/namespaces/default/cronjobs', {
      metadata: { name: 'nightly' },
      spec: {
        schedule: '0 0 1 1 *',
        jobTemplate: { spec: { template: { spec: { ...template('a:1').spec, restartPolicy: 'Never' } } } },
      },
    });
    const page = '#/object/apps/v1/deployments/default/daily';
    const live = async () => (await own.cluster.first.client.get(`${deployments}/daily`)).body;
    await own.inTab(async (tab) => {
      await tab.show(page);
      await tab.page.click('text=Scale…');
      await tab.page.fill('dialog input', '4');
      await tab.page.click('dialog button[type=submit]');
      await tab.page.waitForSelector('dialog', { state: 'detached' });
      await tab.shows('0 of 4 ready', '.state');
      await tab.page.click('.actions-bar >> text=Restart');
      await tab.page.click('dialog button[type=submit]');
      await tab.page.waitForSelector('dialog', { state: 'detached' });
      assert.match(JSON.stringify((await live()).spec), /restartedAt/);
      await tab.page.click('text=Pause rollout');
      await tab.page.click('text=Resume rollout');
      await tab.page.waitForSelector('text=Pause rollout');
      await tab.page.click('text=Roll back…');
      await tab.shows('a:2', 'dialog .removed');
      await tab.shows('a:1', 'dialog .added');
      await tab.page.click('text=Return to revision 1');
      await tab.page.waitForSelector('dialog', { state: 'detached' });
      assert.match(JSON.stringify((await live()).spec), /"image":"a:1"/);
      await tab.show('#/object/batch/v1/cronjobs/default/nightly');
      await tab.page.click('text=Run now');
      await tab.shows(/^nightly-manual-/, 'main h1');
      await tab.shows('Cron job nightly', '.headline');
    });
    await write('POST', '/apis/rbac.authorization.k8s.io/v1/namespaces/default/roles', {
      metadata: { name: 'looks' },
      rules: [{ apiGroups: ['apps'], resources: ['*'], verbs: ['get', 'list', 'watch'] }],
    });
    await write('POST', '/apis/rbac.authorization.k8s.io/v1/namespaces/default/rolebindings', {
      metadata: { name: 'looks' },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'looks' },
      subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: 'alice' }],
    });
    await own.inTab(async (tab) => {
      await tab.show(page);
      for (const action of ['Scale…', 'Delete']) {
        const button = tab.page.locator(`.actions-bar button[aria-disabled=true]:has-text("${action}")`);
        await button.waitFor();
        assert.match((await button.getAttribute('title')) ?? '', /You may not (patch|delete) deployments.apps/);
      }
      await tab.page.click('text=Scale…', { force: true });
      assert.equal(await tab.page.locator('dialog').count(), 0);
    }, tokens.alice);
  });

  it('shows the past, what changed since, and brings it back', async () => {
    await write('POST', configMaps, { metadata: { name: 'travels' }, data: { a: 'first' } });
    await write('POST', configMaps, { metadata: { name: 'vanishes' } });
    const at = await laterThan(Date.now());
    const annotations = { note: hostileText };
    await write('PUT', `${configMaps}/travels`, { metadata: { name: 'travels', annotations }, data: { a: 'second' } });
    await write('DELETE', `${configMaps}/vanishes`);
    const travels = '#/object/core/v1/configmaps/default/travels?tab=yaml';
    await own.inTab(async (tab) => {
      await tab.show(`#/list/core/v1/configmaps?ns=default&at=${at}`);
      await tab.shows('As of', '.time-bar.past');
      await tab.shows('vanishes', '.table');
      await tab.show(travels);
      await tab.shows('a: first', 'main');
      assert.match(await tab.run<string>('location.hash'), /at=/, 'the moment stays in the address');
      assert.equal(await tab.page.locator('text=/^(Edit|Delete)$/').count(), 0);
      await tab.show('#/changes?ns=default');
      const changed = tab.page.locator('.changed > li').filter({ hasText: 'travels' });
      await changed.filter({ hasText: 'first' }).filter({ hasText: 'second' }).filter({ hasText: '<img' }).waitFor();
      await tab.page.locator('.changed > li.deleted').filter({ hasText: 'vanishes' }).waitFor();
      await tab.show('#/restore?ns=default&of=configmaps/travels');
      await tab.page.click('text=Check with the server');
      await tab.page.click('text=Restore it');
      await tab.shows('Restored 1', 'main');
      await tab.page.click('text=Back to now');
      await tab.page.waitForSelector('.time-bar:not(.past)');
      await tab.show(travels);
      await tab.shows('a: first', 'main');
      assert.doesNotMatch(await tab.run<string>('location.hash'), /at=/);
      await tab.show(`#/list/core/v1/configmaps?at=${encodeURIComponent("1'; drop schema cluster; --")}`);
      await tab.live();
      await tab.show('#/list/core/v1/configmaps?at=2001-01-01T00:00:00Z');
      await tab.shows('no state of', '.time-bar');
      await nothingRan(tab);
    });
    const { client } = own.cluster.first;
    const { body } = await client.get('/history/times');
    const versions = (body as { times: { resourceVersion: string }[] }).times.map((each) =>
      Number(each.resourceVersion),
    );
    assert.ok(versions.length > 1);
    assert.deepEqual(
      versions,
      versions.toSorted((a, b) => a - b),
    );
    for (const since of ['x', "2026-01-01T00:00:00Z'; select 1", '2026-13-01T00:00:00Z', '2026-01-01']) {
      assert.equal((await client.get(`/history/times?since=${encodeURIComponent(since)}`)).status, 400, since);
    }
  });

  it('shows a user of the past only what the user may list now', async () => {
    const at = await laterThan(Date.now());
    await own.inTab(async (tab) => {
      await tab.page.keyboard.press('T');
      await tab.shows('You may not look into the past', '.time-bar');
    }, tokens.alice);
    const rbac = '/apis/rbac.authorization.k8s.io/v1';
    await write('POST', `${rbac}/clusterroles`, {
      metadata: { name: 'looks-back' },
      rules: [{ nonResourceURLs: ['/history/version', '/history/times'], verbs: ['get'] }],
    });
    await write('POST', `${rbac}/clusterrolebindings`, {
      metadata: { name: 'looks-back' },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'looks-back' },
      subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: 'alice' }],
    });
    await own.inTab(async (tab) => {
      await tab.show(`#/list/core/v1/secrets?at=${at}`);
      await tab.shows('As of', '.time-bar.past');
      await tab.shows(/forbidden/i, '.problem');
      await tab.show('#/changes?ns=kube-system');
      await tab.shows(/Not compared: .*secrets.*forbidden/, 'main');
    }, tokens.alice);
  });

  it('runs nothing that stands in objects, events, tables or errors', async () => {
    const made = await hostileObjects(write);
    await own.inTab(async (tab) => {
      for (const { fragment, shown } of made) {
        await tab.show(fragment);
        await tab.shows(shown, 'main');
      }
      const answers = hostileAnswers();
      for (const { path, fragment, shown, answer } of answers) {
        await tab.page.route(path, (route) => route.fulfill(answer));
        await tab.show(fragment);
        await tab.shows(shown, 'main');
        await tab.page.unroute(path);
      }
      await write('POST', '/api/v1/namespaces/default/pods', {
        metadata: { name: 'writes' },
        spec: { containers: [{ name: 'app', image: 'example.com/app:1' }] },
      });
      const log = { status: 200, contentType: 'text/plain', body: `\u001b[31m${hostileText}\u001b[0m\n` };
      await tab.page.route('**/pods/writes/log?*', (route) => route.fulfill(log));
      await tab.show('#/object/core/v1/pods/default/writes?tab=logs');
      await tab.shows('<img src=x', '.log-line');
      assert.doesNotMatch((await tab.page.textContent('.log-line')) ?? '', /\[31m/);
      await tab.show('#/create');
      await tab.fillYaml(`apiVersion: v1\nkind: ${JSON.stringify(hostileText)}\n`);
      await tab.page.click('text=Try (dry run)');
      await tab.shows('<img src=x', '.outcomes');
      await tab.show(
        `#/list/core/v1/pods?ns=${encodeURIComponent(hostileText)}&labels=${encodeURIComponent(hostileText)}`,
      );
      await tab.page.waitForSelector('.problem');
      await tab.show(`#/map?ns=${encodeURIComponent(hostileText)}`);
      await tab.shows('<img', 'main h1');
      await nothingRan(tab);
    });
  });

  it('shows releases of Helm, who may do what, and objects of any kind by their names', async () => {
    const packed = (replicas: number) => {
      const release = {
        info: { status: 'deployed', description: 'Upgrade complete', notes: `Open it ${hostileText}` },
        chart: { metadata: { name: 'shop', version: '1.2.3' }, values: {} },
        config: { replicas, note: hostileText },
        manifest: `---\napiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: shop-settings\ndata:\n  replicas: "${replicas}"\n`,
      };
      const encoded = gzipSync(JSON.stringify(release)).toString('base64');
      return Buffer.from(encoded).toString('base64');
    };
    for (const [version, status] of [
      ['1', 'superseded'],
      ['2', 'deployed'],
    ] as const) {
      await write('POST', '/api/v1/namespaces/default/secrets', {
        metadata: {
          name: `sh.helm.release.v1.shop.v${version}`,
          labels: { owner: 'helm', name: 'shop', version, status },
        },
        type: 'helm.sh/release.v1',
        data: { release: packed(Number(version)) },
      });
    }
    await write('POST', configMaps, { metadata: { name: 'shop-settings' } });
    await own.inTab(async (tab) => {
      await tab.page.click('nav >> text=Helm');
      await tab.page.click('table >> text=/^shop$/');
      await tab.shows('shop 1.2.3', '.helm');
      await tab.shows('shop-settings', '.plain-list');
      await tab.page.click('[role=tab] >> text=Notes');
      await tab.shows('<img src=x', '.helm [role=tabpanel]');
      await tab.page.click('[role=tab] >> text=Values');
      await tab.shows('replicas: 2', '.helm .code');
      await tab.page.click('[role=tab] >> text=Changes');
      await tab.shows('replicas: 1', '.helm .removed');
      await tab.page.click('.chips >> text=superseded');
      await tab.shows('1', '.chips [aria-current=page]');
      await tab.page.click('[role=tab] >> text=Objects');
      await tab.page.click('.plain-list >> text=shop-settings');
      await tab.shows('shop-settings', 'main h1');
      await tab.page.keyboard.press('w');
      await tab.shows(/system:masters.*yes/s, '.matrix');
      await tab.page.fill('#find-kind', 'shop-set');
      await tab.page.click('nav >> text=Objects named');
      await tab.shows('shop-settings', '.found');
      await nothingRan(tab);
    });
    await own.inTab(async (tab) => {
      await tab.show('#/helm?ns=default');
      await tab.shows(/forbidden/i, '.problem');
      await tab.show('#/object/core/v1/configmaps/default/shop-settings?tab=access');
      await tab.page.waitForSelector('main .blank, main .problem');
    }, tokens.alice);
  });

  it('shows a program on a terminal, and nothing that it writes leaves the screen', async () => {
    await write('POST', '/api/v1/namespaces/default/pods', {
      metadata: { name: 'interactive' },
      spec: { containers: [{ name: 'app', image: 'example.com/app:1' }] },
    });
    await own.inTab(async (tab) => {
      const output = (text: string) => Buffer.concat([Buffer.of(1), Buffer.from(text)]);
      const received: string[] = [];
      const opened = new Promise<WebSocketRoute>((resolve) => {
        void tab.page.routeWebSocket(/\/exec\?/, (socket) => {
          socket.onMessage((message) => received.push(Buffer.from(message as Buffer).toString('latin1')));
          resolve(socket);
        });
      });
      await tab.show('#/object/core/v1/pods/default/interactive?tab=terminal');
      await tab.page.waitForSelector('.xterm-screen');
      await tab.page.fill('[aria-label=Command]', 'sh -l');
      await tab.page.click('text=/^Connect$/');
      const socket = await opened;
      assert.match(socket.url(), /container=app.*tty=true.*command=sh&command=-l$/);
      await eventually(() => received.some((each) => each.startsWith('\u0004{"Width":')), 'the size');
      const title = await tab.page.title();
      const link = '\u001b]8;;https://example.com/\u0007link\u001b]8;;\u0007';
      const clipboard = `\u001b]52;c;${Buffer.from('stolen').toString('base64')}\u0007\u001b]52;c;?\u0007`;
      socket.send(
        output(`\u001b]0;taken\u0007${clipboard}${link} \u001b[21t\u001b[38;2;255;0;0m${hostileText}\u001b[0m\r\n`),
      );
      socket.send(output('\u001b[1;32mgreen\u001b[0m $ '));
      await tab.shows('green', '.xterm-rows');
      await tab.shows('<img src=x', '.xterm-rows');
      assert.equal(await tab.page.title(), title);
      assert.equal(await tab.page.locator('.xterm-rows a, .xterm-rows [class*=underline]').count(), 0, 'no link');
      const typed = () => received.filter((each) => each.startsWith('\u0000')).join('');
      assert.equal(typed(), '', 'nothing is typed for the user');
      await tab.page.keyboard.type('ls\u0003');
      await tab.page.keyboard.press('Enter');
      await eventually(() => typed().endsWith('\r'), 'the keys');
      received.length = 0;
      await tab.page.setViewportSize({ width: 700, height: 700 });
      await eventually(() => received.some((each) => each.startsWith('\u0004')), 'the new size');
      await tab.page.keyboard.press('F6');
      await tab.until(`document.activeElement?.matches('.log-tools button') === true`);
      socket.send(Buffer.concat([Buffer.of(3), Buffer.from('{"status":"Failure","message":"exit code 3"}')]));
      await tab.shows('exit code 3', '.xterm-rows');
      await tab.page.waitForSelector('text=/^Connect$/');
      await nothingRan(tab);
    });
  });

  it('is stopped by its policy where all else fails', async () => {
    let arrived = 0;
    const elsewhere = createServer((_request, response) => {
      arrived++;
      response.end();
    });
    elsewhere.on('upgrade', () => arrived++);
    await new Promise<void>((resolve) => elsewhere.listen(0, '127.0.0.1', resolve));
    await own
      .inTab(async (tab) => {
        const attempts = [
          `document.body.insertAdjacentHTML('beforeend', '<img src=x onerror="globalThis.hacked=1">')`,
          `document.body.innerHTML = '<script>globalThis.hacked=1</script>'`,
          `document.body.append(Object.assign(document.createElement('script'), { textContent: 'globalThis.hacked=1' }))`,
          `document.body.append(Object.assign(document.createElement('script'), { src: 'https://example.com/x.js' }))`,
          `new Function('globalThis.hacked=1')()`,
          `document.body.append(Object.assign(document.createElement('iframe'), { srcdoc: '<p>' }))`,
        ];
        for (const attempt of attempts) {
          // After this, since the test's own code may do more than scripts of the page.
          const outcome = await tab.run<string>(`new Promise((done) =>
          setTimeout(() => { try { ${attempt}; done('done'); } catch (error) { done(error.name); } }))`);
          assert.match(outcome, /TypeError|EvalError/, attempt);
        }
        const away = `http://127.0.0.1:${(elsewhere.address() as AddressInfo).port}/`;
        const blocked = await tab.run<string[]>(`Promise.all([
        fetch('${away}').then(() => 'fetched', () => 'blocked'),
        new Promise((done) => Object.assign(new Image(), { onload: () => done('shown'), onerror: () => done('blocked'), src: '${away}' })),
        new Promise((done) => { try { new WebSocket('${away.replace('http', 'ws')}').onerror = () => done('blocked'); } catch { done('blocked'); } }),
        new Promise((done) => {
          const style = document.body.appendChild(document.createElement('style'));
          style.textContent = 'body { --hacked: 1 }';
          done(getComputedStyle(document.body).getPropertyValue('--hacked') === '' ? 'blocked' : 'styled');
        }),
      ])`);
        assert.deepEqual(blocked, ['blocked', 'blocked', 'blocked', 'blocked']);
        assert.equal(await tab.run('globalThis.hacked'), undefined);
        await eventually(() => tab.faults.length > attempts.length, 'the browser to tell of each');
        assert.equal(arrived, 0, 'nothing was sent');
        tab.faults.length = 0;
      })
      .finally(() => elsewhere.close());
  });

  it('is shown in no frame of another page, and answers none', async () => {
    const { url } = own.running;
    const evil = createServer((_request, response) => {
      response.setHeader('content-type', 'text/html');
      response.end(`<iframe src="${url}"></iframe><script>
        globalThis.outcomes = Promise.all([
          fetch('${url}console/session', { credentials: 'include' }).then(() => 'answered', () => 'blocked'),
          fetch('${url}console/login', { method: 'POST', mode: 'no-cors', credentials: 'include', body: '{"login":"${tokens.admin}"}' })
            .then(({ type }) => type, () => 'blocked'),
        ]);
      </script>`);
    });
    await new Promise<void>((resolve) => evil.listen(0, '127.0.0.1', resolve));
    const context = await own.browser.newContext();
    try {
      const page = await context.newPage();
      await page.goto(`http://127.0.0.1:${(evil.address() as AddressInfo).port}/`);
      const outcomes = await page.evaluate<string[]>('globalThis.outcomes');
      assert.deepEqual(outcomes, ['blocked', 'blocked']);
      assert.deepEqual(await context.cookies(), []);
      for (const frame of page.frames().slice(1)) {
        assert.equal(await frame.locator('#app').count(), 0);
      }
    } finally {
      await context.close();
      evil.closeAllConnections();
      evil.close();
    }
  });
});

/** A time in the address of the console, after which nothing has been written yet. */
async function laterThan(before: number): Promise<string> {
  await eventually(async () => Date.now() > before + 1, 'the next millisecond');
  return encodeURIComponent(new Date().toISOString());
}
