import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, describe, it } from 'node:test';
import type { Browser } from 'playwright-core';
import type { RunningConsole } from '../../src/console/console-server.js';
import { Logger } from '../../src/observability/logger.js';
import { openConsole } from '../../src/program/open-console.js';
import { TestCluster, tokens } from '../e2e/support/test-cluster.js';
import { ConsoleTab, startBrowser } from './browser.js';
import { fill } from './fill.js';
import { hostileObjects, hostileText } from './hostile-objects.js';

/** `PLINTH_TEST_CONSOLE_PODS` makes another number. */
const pods = Number(process.env.PLINTH_TEST_CONSOLE_PODS || 10_000);

/** The console in a real browser, over a real server: `npm run check:console`. */
describe('the console in a browser', () => {
  let cluster: TestCluster;
  let browser: Browser;
  let running: RunningConsole;
  const rows = "document.querySelectorAll('.table tbody tr[data-key]')";
  const configMaps = '/api/v1/namespaces/default/configmaps';

  async function write(method: string, path: string, body?: object): Promise<unknown> {
    const answer = await cluster.first.client.send(method, path, body === undefined ? {} : { body });
    assert.ok(answer.status < 300, `${method} ${path}: ${answer.status} ${answer.text}`);
    return answer.body;
  }

  before(async () => {
    [cluster, browser] = await Promise.all([
      TestCluster.start({
        servers: 1,
        flags: ['--authorization-mode=RBAC'],
        controllers: true,
        accounts: false,
        controllerFlags: ['--controllers=customresourcedefinition-status'],
      }),
      startBrowser(),
    ]);
    running = await openConsole(cluster.first.kubeconfig, {
      bindAddress: '127.0.0.1',
      port: 0,
      origins: [],
      sessionMs: 600_000,
      logger: new Logger('error'),
      sql: { url: cluster.databaseUrl, timeoutMs: 10_000, rows: 100 },
    });
  });
  after(async () => {
    await browser?.close();
    await running?.stop();
    await cluster?.stop();
  });

  /** A logged-in tab, closed at the end; nothing bad may have happened in it. */
  async function inTab(run: (tab: ConsoleTab) => Promise<void>, login: string = tokens.admin): Promise<void> {
    const tab = await ConsoleTab.open(browser, running.url);
    try {
      await tab.login(login);
      await run(tab);
      assert.deepEqual(tab.faults, []);
    } finally {
      await tab.close();
    }
  }

  it('lets in who has credentials, and forgets them at logout', async () => {
    const tab = await ConsoleTab.open(browser, running.url);
    await tab.page.fill('#login', '<img src=x onerror=alert(1)>');
    await tab.page.click('button[type=submit]');
    await tab.shows('no client configuration', '[role=alert]');
    await tab.page.fill('#login', 'wrong-token');
    await tab.page.click('button[type=submit]');
    await tab.shows('not accept', '[role=alert]');
    await tab.login(readFileSync(cluster.first.kubeconfig, 'utf8'));
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
    await inTab(async (tab) => {
      await tab.shows('alice', '.user');
      await tab.show('#/list/core/v1/secrets');
      await tab.shows(/forbidden/i, '.problem');
      await tab.show('#/sql');
      await tab.shows('--sql-url', 'main');
      await tab.show('#/object/core/v1/configmaps/default/any?tab=timeline');
      await tab.shows('--sql-url', 'main');
    }, tokens.alice);
  });

  it('follows changes, by keyboard as well', async () => {
    await inTab(async (tab) => {
      await tab.show('#/list/core/v1/configmaps?ns=default');
      await tab.live();
      for (const name of ['one', 'two']) {
        await write('POST', configMaps, { metadata: { name, labels: { app: name } }, data: { a: '1' } });
        await tab.shows(name, '.table tbody tr');
      }
      await write('DELETE', `${configMaps}/two`);
      await tab.until("!document.querySelector('.table').textContent.includes('two')");
      await tab.page.keyboard.press('/');
      await tab.page.keyboard.type('one');
      await tab.page.keyboard.press('Escape');
      await tab.until(`${rows}.length === 1`);
      await tab.page.keyboard.press('j');
      await tab.page.keyboard.press('Enter');
      await tab.shows('app: one', 'pre.yaml');
      await tab.page.keyboard.press('Escape');
      await tab.live();
      await tab.page.keyboard.press('?');
      await tab.shows('next, previous row', 'dialog');
      await tab.page.keyboard.press('Escape');
      await tab.show('#/list/core/v1/configmaps?ns=default&labels=app%3Dnobody');
      await tab.until(`${rows}.length === 0`);
    });
  });

  it('comes back when the server was away', async () => {
    await inTab(async (tab) => {
      await tab.show('#/list/core/v1/configmaps?ns=default');
      await tab.live();
      const port = Number(new URL(cluster.first.url).port);
      await cluster.first.stop('SIGKILL');
      await tab.shows(/trying again/, '.problem');
      cluster.servers.length = 0;
      await cluster.addServer(port);
      await write('POST', configMaps, { metadata: { name: 'after' } });
      await tab.shows('after', '.table tbody tr');
    });
  });

  it('edits after a dry run, and tells of conflicts', async () => {
    await write('POST', configMaps, { metadata: { name: 'edited' }, data: { a: '1' } });
    await inTab(async (tab) => {
      const area = '.edit textarea';
      const change = async (from: string, to: string) =>
        tab.page.fill(area, (await tab.page.inputValue(area)).replace(from, to));
      await tab.show('#/object/core/v1/configmaps/default/edited');
      await tab.shows('a: "1"', 'pre.yaml');
      await tab.page.keyboard.press('E');
      await tab.page.waitForSelector(area);
      await change('a: "1"', 'a: [broken');
      await tab.page.click('text=Try (dry run)');
      await tab.page.waitForSelector('.edit [role=alert]');
      await change('a: [broken', 'a: "2"\nimmutible: true');
      await tab.page.click('text=Try (dry run)');
      await tab.shows(/immutible/, '.edit [role=alert]');
      await change('\nimmutible: true', '');
      await tab.page.click('text=Try (dry run)');
      await tab.shows('a: "2"', '.outcome .added');
      const live = (await cluster.first.client.get(`${configMaps}/edited`)).body;
      assert.deepEqual(live.data, { a: '1' }, 'a dry run changes nothing');
      await write('PUT', `${configMaps}/edited`, { metadata: { name: 'edited' }, data: { a: '1', b: 'theirs' } });
      await tab.shows('Somebody else changed the object', '.conflict');
      await tab.shows('b: theirs', '.conflict .added');
      await tab.page.click('text=/^Apply$/');
      await tab.shows('Conflict', '.edit .problem');
      await tab.page.click('text=/Keep my text/');
      await tab.page.click('text=Try (dry run)');
      await tab.shows('b: theirs', '.outcome .removed');
      await tab.page.click('text=/^Apply$/');
      await tab.page.waitForSelector('.edit', { state: 'detached' });
      await tab.shows('a: "2"', 'pre.yaml');
      const after = (await cluster.first.client.get(`${configMaps}/edited`)).body;
      assert.deepEqual(after.data, { a: '2' });
      await tab.page.keyboard.press('D');
      await tab.page.waitForSelector('dialog[open]');
      await tab.page.keyboard.press('Escape');
      await tab.page.waitForSelector('dialog', { state: 'detached' });
      assert.equal((await cluster.first.client.get(`${configMaps}/edited`)).status, 200);
      await tab.page.keyboard.press('D');
      await tab.page.click('dialog button.danger');
      await tab.shows('The object was deleted');
      assert.equal((await cluster.first.client.get(`${configMaps}/edited`)).status, 404);
    });
  });

  it('runs nothing that stands in objects, events, tables or errors', async () => {
    const made = await hostileObjects(write);
    await inTab(async (tab) => {
      for (const { fragment, shown } of made) {
        await tab.show(fragment);
        await tab.shows(shown, 'main');
        await tab.page.waitForTimeout(50);
      }
      await tab.show(
        `#/list/core/v1/pods?ns=${encodeURIComponent(hostileText)}&labels=${encodeURIComponent(hostileText)}`,
      );
      await tab.page.waitForSelector('.problem');
      await tab.show(`#/map?ns=${encodeURIComponent(hostileText)}`);
      await tab.shows('<img', 'main h1');
      const marks = await tab.run(`({
        ran: globalThis.hacked,
        images: document.querySelectorAll('img, iframe, object, embed, base').length,
        scripts: [...document.scripts].map(({ src }) => new URL(src).pathname),
      })`);
      assert.deepEqual(marks, { ran: undefined, images: 0, scripts: ['/theme.js', '/app.js'] });
      // The net below, too: a mistake that made HTML of text would still run nothing.
      const stopped = await tab.run(`(() => {
        try {
          document.body.insertAdjacentHTML('beforeend', '<img src=x onerror="globalThis.hacked=1">');
          return 'inserted';
        } catch (error) {
          return error.name;
        }
      })()`);
      assert.equal(stopped, 'TypeError');
      tab.faults.length = 0;
    });
  });

  it('shows owners, dependents and the map of a namespace', async () => {
    const owner = (await write('POST', configMaps, { metadata: { name: 'parent' } })) as { metadata: { uid: string } };
    const reference = { apiVersion: 'v1', kind: 'ConfigMap', name: 'parent', uid: owner.metadata.uid };
    await write('POST', configMaps, { metadata: { name: 'child', ownerReferences: [reference] } });
    await inTab(async (tab) => {
      await tab.show('#/object/core/v1/configmaps/default/parent?tab=owners');
      await tab.shows('ConfigMap child', '.tree li li');
      await tab.page.click('.tree a');
      await tab.shows('child', '.object h1');
      await tab.page.keyboard.press('o');
      await tab.shows('ConfigMap parent', '.tree li.owner');
      await tab.show('#/map?ns=default');
      await tab.page.waitForSelector('svg.map path.owns', { state: 'attached' });
      await tab.show('#/server');
      await tab.shows('Requests', '.cards');
    });
  });

  it('shows the first of many pods within a second, and draws few rows', async () => {
    await fill(cluster, pods);
    await inTab(async (tab) => {
      const times: number[] = [];
      for (let round = 0; round < 3; round++) {
        await tab.show('#/');
        await tab.shows('Where to?');
        const took = await tab.run<number>(`(async () => {
          const began = performance.now();
          location.hash = '#/list/core/v1/pods';
          while (${rows}.length < 20) await new Promise((resolve) => requestAnimationFrame(resolve));
          return performance.now() - began;
        })()`);
        times.push(Math.round(took));
        await tab.live();
        assert.equal(Number.parseInt((await tab.page.textContent('.count')) ?? '', 10), pods);
      }
      console.log(`first rows of ${pods} pods after ${times.join(', ')} ms`);
      assert.ok(Math.min(...times) < 1000, `${times}`);
      await tab.page.keyboard.press('G');
      await tab.shows(`pod-${String(pods - 1).padStart(5, '0')}`, '.table tbody tr');
      assert.ok((await tab.page.locator('.table tbody tr').count()) < 100);
    });
  });
});
