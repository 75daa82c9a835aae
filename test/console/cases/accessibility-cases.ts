import assert from 'node:assert/strict';
import { it } from 'node:test';
import { barriers } from '../axe.js';
import { type ConsoleInBrowser, configMaps } from '../console-in-browser.js';
import { ConsoleTab, editorContent } from '../console-tab.js';

/** A state of the console, and what shows that it is there. */
interface Sight {
  readonly fragment: string;
  readonly shown: string;
  /** Opens what the address does not. */
  readonly open?: (tab: ConsoleTab) => Promise<void>;
}

const object = '#/object/core/v1/configmaps/default/reachable';
const pod = '#/object/core/v1/pods/default/reachable';
const deployment = '#/object/apps/v1/deployments/default/reachable';

const sights: readonly Sight[] = [
  { fragment: '#/', shown: '.trouble, .fine' },
  { fragment: '#/list/core/v1/configmaps?ns=default&q=reachable', shown: '.table tbody tr[data-key]' },
  { fragment: '#/list/core/v1/configmaps?ns=default&open=default%2Freachable', shown: '.panel .summary' },
  { fragment: '#/list/core/v1/configmaps?ns=default&q=nothing-of-this-name', shown: '.list .blank' },
  {
    fragment: '#/list/core/v1/configmaps?ns=default',
    shown: '.table tbody tr[data-key]',
    open: async ({ page }) => {
      await page.check('[aria-label="Select all rows"]');
      await page.click('text=Columns');
      await page.waitForSelector('.sheet');
    },
  },
  { fragment: object, shown: '.summary' },
  { fragment: `${object}?tab=yaml`, shown: '.code .cm-line' },
  {
    fragment: `${object}?tab=yaml`,
    shown: '.code .cm-line',
    open: async ({ page }) => {
      await page.keyboard.press('E');
      await page.waitForSelector(`.edit ${editorContent}`);
    },
  },
  { fragment: `${object}?tab=events`, shown: '.tabpanel .blank, .tabpanel table' },
  { fragment: `${object}?tab=owners`, shown: '.tree, .tabpanel .blank' },
  { fragment: `${object}?tab=timeline`, shown: '.timeline li' },
  { fragment: `${object}?tab=access`, shown: '.matrix' },
  { fragment: pod, shown: '.summary' },
  { fragment: `${pod}?tab=logs`, shown: '.log-lines' },
  { fragment: `${pod}?tab=terminal`, shown: '.terminal-screen' },
  {
    fragment: deployment,
    shown: '.summary',
    open: async ({ page }) => {
      await page.click('text=Scale…');
      await page.waitForSelector('dialog input');
    },
  },
  {
    fragment: object,
    shown: '.summary',
    open: async ({ page }) => {
      await page.keyboard.press('D');
      await page.waitForSelector('dialog');
    },
  },
  { fragment: '#/map?ns=default', shown: 'svg.map a' },
  { fragment: '#/server', shown: '.cards' },
  {
    fragment: '#/sql',
    shown: 'textarea',
    open: async ({ page }) => {
      await page.fill('textarea[aria-label="Question in SQL"]', 'select name, labels from cluster.configmaps');
      await page.keyboard.press('Control+Enter');
      await page.waitForSelector('table.plain tbody tr');
    },
  },
  { fragment: '#/helm?ns=default', shown: '.helm table, .blank' },
  { fragment: '#/create', shown: editorContent },
  { fragment: '#/search?q=reachable', shown: '.found td' },
  {
    fragment: '#/',
    shown: '.trouble, .fine',
    open: async ({ page }) => {
      await page.keyboard.press('T');
      await page.waitForSelector('.time-bar .track input');
    },
  },
  { fragment: '#/changes?ns=default', shown: 'main h1' },
  { fragment: '#/restore?ns=default', shown: 'main h1' },
  {
    fragment: '#/',
    shown: '.trouble, .fine',
    open: async ({ page }) => {
      await page.keyboard.press('?');
      await page.waitForSelector('dialog');
    },
  },
];

/** Whether people who can't see, or see little, are kept out. */
export function accessibilityCases(own: () => ConsoleInBrowser): void {
  const write = (method: string, path: string, body?: object) => own().write(method, path, body);

  it('keeps nobody out, in the light and in the dark', async () => {
    const labels = { app: 'reachable' };
    const spec = { containers: [{ name: 'app', image: 'example.com/app:1' }] };
    const metadata = { name: 'reachable', labels };
    await write('POST', configMaps, { metadata, data: { a: '1', text: 'first\nsecond\n' } });
    await write('POST', '/api/v1/namespaces/default/pods', { metadata, spec });
    await write('POST', '/api/v1/namespaces/default/services', {
      metadata,
      spec: { selector: labels, ports: [{ port: 80 }] },
    });
    await write('POST', '/apis/apps/v1/namespaces/default/deployments', {
      metadata,
      spec: { selector: { matchLabels: labels }, template: { metadata: { labels }, spec } },
    });
    const stranger = await ConsoleTab.open(own().browser, own().running.url);
    await stranger.page.waitForSelector('#login');
    const found: string[] = (await barriers(stranger)).map((fault) => `login: ${fault}`);
    await stranger.close();
    await own().inTab(async (tab) => {
      for (const [index, { fragment, shown, open }] of sights.entries()) {
        await tab.page.emulateMedia({ colorScheme: 'light' });
        await tab.show(fragment);
        await tab.page.waitForSelector(shown);
        await open?.(tab);
        for (const fault of await barriers(tab)) found.push(`${index} ${fragment}: ${fault}`);
        await tab.page.emulateMedia({ colorScheme: 'dark' });
        for (const fault of await barriers(tab, ['color-contrast'])) found.push(`${index} ${fragment}, dark: ${fault}`);
        await tab.page.keyboard.press('Escape');
        if (open !== undefined) await tab.page.reload();
      }
      await tab.page.setViewportSize({ width: 390, height: 800 });
      for (const { fragment, shown } of sights.filter(({ open }) => open === undefined)) {
        await tab.show(fragment);
        await tab.page.waitForSelector(shown);
        for (const fault of await barriers(tab)) found.push(`narrow, ${fragment}: ${fault}`);
        const isWider = await tab.run<boolean>(
          `document.querySelector('main').scrollWidth > document.querySelector('main').clientWidth`,
        );
        if (isWider) found.push(`narrow, ${fragment}: the page is wider than the window`);
      }
      await tab.page.click('[aria-label=Pages]');
      await tab.page.waitForSelector('nav.shown');
      for (const fault of await barriers(tab)) found.push(`narrow navigation: ${fault}`);
    });
    assert.deepEqual(found, []);
  });
}
