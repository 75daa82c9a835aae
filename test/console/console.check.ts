import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { ConsoleInBrowser, configMaps, rows } from './console-in-browser.js';
import { fill } from './fill.js';

/** `PLINTH_TEST_CONSOLE_PODS` sets another number. */
const pods = Number(process.env.PLINTH_TEST_CONSOLE_PODS || 10_000);

/** Notes when the first rows are there, in milliseconds since the navigation began. */
const noteFirstRows = `new MutationObserver((_changes, observer) => {
  if (${rows}.length < 20) return;
  observer.disconnect();
  requestAnimationFrame(() => { globalThis.firstRows = performance.now(); });
}).observe(document, { subtree: true, childList: true })`;

/** Cases that take too long for `test/e2e/console.spec.ts`: `npm run check:console` runs both. */
describe('the console in a browser, with much to show', () => {
  let own: ConsoleInBrowser;
  const write = (method: string, path: string, body?: object) => own.write(method, path, body);

  before(async () => {
    own = await ConsoleInBrowser.start();
  });
  after(() => own?.stop());

  it('follows changes, by keyboard as well', async () => {
    await own.inTab(async (tab) => {
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
      await tab.page.keyboard.press('y');
      await tab.shows('app: one', '.panel .code');
      await tab.page.keyboard.press('Escape');
      await tab.live();
      await tab.page.keyboard.press('?');
      await tab.shows('next, previous row', 'dialog');
      await tab.page.keyboard.press('Escape');
      await tab.show('#/list/core/v1/configmaps?ns=default&labels=app%3Dnobody');
      await tab.until(`${rows}.length === 0`);
    });
  });

  it('shows owners, dependents and the map of a namespace', async () => {
    const owner = (await write('POST', configMaps, { metadata: { name: 'parent' } })) as { metadata: { uid: string } };
    const reference = { apiVersion: 'v1', kind: 'ConfigMap', name: 'parent', uid: owner.metadata.uid };
    await write('POST', configMaps, { metadata: { name: 'child', ownerReferences: [reference] } });
    await own.inTab(async (tab) => {
      await tab.show('#/object/core/v1/configmaps/default/parent?tab=owners');
      await tab.shows('ConfigMap child', '.tree li li');
      await tab.page.click('.tree a');
      await tab.shows('child', '.object h1');
      await tab.page.keyboard.press('o');
      await tab.shows('ConfigMap parent', '.tree li.owner');
      await tab.show('#/map?ns=default');
      await tab.page.waitForSelector('svg.map path.owns', { state: 'attached' });
      await tab.show('#/server');
      await tab.shows('Processor', '.cards');
    });
  });

  it('shows the first of many pods within a second, and draws few rows', async () => {
    await fill(own.cluster, pods);
    await own.inTab(async (tab) => {
      const times: number[] = [];
      for (let round = 0; round < 3; round++) {
        await tab.show('#/');
        await tab.shows('The cluster', 'main h1');
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
      // With the page itself: from the beginning of the navigation.
      const whole: number[] = [];
      await tab.page.addInitScript({ content: noteFirstRows });
      for (let round = 0; round < 3; round++) {
        await tab.page.reload({ waitUntil: 'commit' });
        await tab.until('globalThis.firstRows > 0');
        whole.push(Math.round(await tab.run<number>('globalThis.firstRows')));
        await tab.live();
      }
      console.log(`with the loading of the page: ${whole.join(', ')} ms`);
      assert.ok(Math.min(...whole) < 1000, `${whole}`);
      await tab.page.keyboard.press('G');
      await tab.shows(`pod-${String(pods - 1).padStart(5, '0')}`, '.table tbody tr');
      assert.ok((await tab.page.locator('.table tbody tr').count()) < 100);
    });
  });

  it('comes back when the server was away', async () => {
    await own.inTab(async (tab) => {
      await tab.show('#/list/core/v1/configmaps?ns=default');
      await tab.live();
      const port = Number(new URL(own.cluster.first.url).port);
      await own.cluster.first.stop('SIGKILL');
      await tab.shows(/trying again/, '.problem');
      own.cluster.servers.length = 0;
      await own.cluster.addServer(port);
      await write('POST', configMaps, { metadata: { name: 'after' } });
      await tab.shows('after', '.table tbody tr');
    });
  });
});
