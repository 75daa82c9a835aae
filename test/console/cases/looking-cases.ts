import { it } from 'node:test';
import { type ConsoleInBrowser, configMaps, rows } from '../console-in-browser.js';

/** Navigation, the overview and tables. */
export function lookingCases(own: () => ConsoleInBrowser): void {
  const write = (method: string, path: string, body?: object) => own().write(method, path, body);

  it('leads to kinds by purpose, and shows an object beside its list', async () => {
    for (const name of ['beside-a', 'beside-b'])
      await write('POST', configMaps, { metadata: { name }, data: { name } });
    await own().inTab(async (tab) => {
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
    await own().inTab(async (tab) => {
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
    await own().inTab(async (tab) => {
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
}
