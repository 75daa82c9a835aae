import assert from 'node:assert/strict';
import { it } from 'node:test';
import { gzipSync } from 'node:zlib';
import { tokens } from '../../e2e/support/test-cluster.js';
import { type ConsoleInBrowser, configMaps } from '../console-in-browser.js';
import { hostileText, nothingRan } from '../hostile-objects.js';

/** Releases of Helm, who may do what, and the search over all kinds. */
export function findingCases(own: () => ConsoleInBrowser): void {
  const write = (method: string, path: string, body?: object) => own().write(method, path, body);

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
    await own().inTab(async (tab) => {
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
      await tab.shows('Summary', '[role=tab][aria-selected=true]');
      await tab.page.click('[role=tab] >> text=Access');
      await tab.shows('Access', '[role=tab][aria-selected=true]');
      await tab.shows(/system:masters.*yes/s, '.matrix');
      await tab.page.fill('#find-kind', 'shop-set');
      await tab.page.click('nav >> text=Objects named');
      await tab.shows('shop-settings', '.found');
      await tab.shows('by SQL in', 'main');
      await tab.show(`#/search?q=${encodeURIComponent(hostileText)}`);
      await tab.shows('0 objects, by SQL', 'main');
      await tab.page.route('**/console/sql', (route) => route.fulfill({ status: 422, json: { message: 'no' } }));
      await tab.show('#/search?q=shop-set');
      await tab.shows('shop-settings', '.found');
      assert.doesNotMatch((await tab.page.textContent('main')) ?? '', /by SQL/);
      await nothingRan(tab);
    });
    await own().inTab(async (tab) => {
      await tab.show('#/helm?ns=default');
      await tab.shows(/forbidden/i, '.problem');
      await tab.show('#/object/core/v1/configmaps/default/shop-settings?tab=access');
      await tab.page.waitForSelector('main .blank, main .problem');
    }, tokens.alice);
  });
}
