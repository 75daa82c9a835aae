import assert from 'node:assert/strict';
import { it } from 'node:test';
import { type ConsoleInBrowser, configMaps, rows } from '../console-in-browser.js';

/** Breaks a function of the browser, and with it what uses the function, as a fault of the console would. */
const broken = (name: string) => `globalThis.whole = ${name}; ${name} = () => { throw new Error('it is broken'); }`;

/** Faults of the console itself. */
export function faultCases(own: () => ConsoleInBrowser): void {
  it('keeps a fault in one page or view from everything else, and leads back', async () => {
    await own().write('POST', configMaps, { metadata: { name: 'beside-a-fault' } });
    await own().inTab(async (tab) => {
      await tab.show('#/list/core/v1/configmaps?ns=default');
      await tab.live();
      await tab.run(broken('Number.prototype.toFixed'));
      await tab.show('#/list/core/v1/secrets?ns=default');
      await tab.shows("This page can't be shown", 'main [role=alert]');
      await tab.shows('it is broken', 'main [role=alert]');
      await tab.page.waitForSelector('[role=alert] a[href="#/"]');
      await tab.show('#/search?q=');
      await tab.shows('Find objects', 'main h1');
      await tab.show('#/list/core/v1/secrets?ns=default');
      await tab.shows("This page can't be shown", 'main');
      await tab.page.click('[role=alert] >> text=Back');
      await tab.shows('Find objects', 'main h1');
      await tab.page.click('nav >> text=Config maps');
      await tab.shows("This page can't be shown", 'main');
      await tab.run('Number.prototype.toFixed = globalThis.whole');
      await tab.page.click('[role=alert] >> text=Try again');
      await tab.live();
      assert.ok((await tab.run<number>(`${rows}.length`)) > 0);
      await tab.page.click('tr[data-key] >> text=beside-a-fault');
      await tab.shows('beside-a-fault', '.panel h1');
      // One view of an object fails, its table and the other views do not.
      const named = (name: string) => ({ metadata: { name } });
      const events = { metadata: { resourceVersion: '1' }, items: [named('a'), named('b')] };
      await tab.page.route('**/namespaces/default/events?*', (route) => route.fulfill({ json: events }));
      await tab.run(broken('String.prototype.localeCompare'));
      await tab.page.keyboard.press('e');
      await tab.shows("This view can't be shown", '.panel [role=alert]');
      await tab.run('String.prototype.localeCompare = globalThis.whole');
      assert.ok((await tab.run<number>(`${rows}.length`)) > 0);
      await tab.page.keyboard.press('y');
      await tab.shows('beside-a-fault', '.panel .code');
      await tab.page.keyboard.press('Escape');
      await tab.page.waitForSelector('.panel', { state: 'detached' });
    });
  });
}
