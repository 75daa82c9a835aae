import assert from 'node:assert/strict';
import { it } from 'node:test';
import { tokens } from '../../e2e/support/test-cluster.js';
import type { ConsoleInBrowser } from '../console-in-browser.js';
import { ConsoleTab } from '../console-tab.js';

const rbac = '/apis/rbac.authorization.k8s.io/v1';
const namespaced = '/api/v1/namespaces/shared';

/** Sessions of several tabs, and rights that end while a page is open. */
export function rightsCases(own: () => ConsoleInBrowser): void {
  const write = (method: string, path: string, body?: object) => own().write(method, path, body);
  const mayRead = async (user: string) => {
    await write('POST', `${rbac}/namespaces/shared/roles`, {
      metadata: { name: user },
      rules: [{ apiGroups: [''], resources: ['secrets', 'pods', 'pods/log'], verbs: ['get', 'list', 'watch'] }],
    });
    await write('POST', `${rbac}/namespaces/shared/rolebindings`, {
      metadata: { name: user },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: user },
      subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: user }],
    });
  };

  it('has one session in all tabs of a browser, and shows each that of the last login', async () => {
    const first = await ConsoleTab.open(own().browser, own().running.url);
    const second = await first.another(own().running.url);
    const third = await first.another(own().running.url);
    try {
      for (const tab of [first, second, third]) await tab.page.waitForSelector('#login');
      await first.login(tokens.alice);
      for (const tab of [second, third]) await tab.shows('alice', '.user');
      await second.page.click('text=Log out');
      for (const tab of [first, second, third]) await tab.page.waitForSelector('#login');
      await third.login(tokens.bob);
      for (const tab of [first, second, third]) await tab.shows('bob', '.user');
      await first.show('#/list/core/v1/configmaps');
      await first.shows(/User "bob" cannot list/, '.problem');
      await second.page.click('text=Log out');
      for (const tab of [first, second, third]) await tab.page.waitForSelector('#login');
      for (const tab of [first, second, third]) assert.deepEqual(tab.faults, []);
    } finally {
      await first.close();
    }
  });

  it('takes from sight what a user may no longer read', async () => {
    await write('POST', '/api/v1/namespaces', { metadata: { name: 'shared' } });
    await write('POST', `${namespaced}/secrets`, { metadata: { name: 'kept' }, stringData: { word: 'for-friends' } });
    await mayRead('alice');
    const list = await ConsoleTab.open(own().browser, own().running.url);
    const object = await list.another(own().running.url);
    try {
      for (const { page } of [list, object]) {
        // A watch of this test ends sooner than one of the page, which lasts a minute.
        await page.route('**/secrets?*watch=true*', (route) =>
          route.continue({ url: route.request().url().replace('timeoutSeconds=60', 'timeoutSeconds=1') }),
        );
      }
      await list.login(tokens.alice);
      await list.show('#/list/core/v1/secrets?ns=shared');
      await list.shows('kept', '.table');
      await object.shows('alice', '.user');
      await object.show('#/object/core/v1/secrets/shared/kept');
      await object.page.click('text=Reveal');
      await object.shows('for-friends', 'main');
      await write('DELETE', `${rbac}/namespaces/shared/rolebindings/alice`);
      await list.shows(/cannot list resource "secrets"|cannot watch resource "secrets"/, '.problem');
      await list.until(`!document.querySelector('main').innerText.includes('kept')`);
      await object.shows("It can't be shown", 'main');
      assert.doesNotMatch(await object.run<string>('document.body.innerText'), /for-friends/);
    } finally {
      await list.close();
    }
  });

  it('asks about nothing that a name of dots would lead to', async () => {
    await own().inTab(async (tab) => {
      const asked: string[] = [];
      tab.page.on('request', (request) => asked.push(new URL(request.url()).pathname));
      for (const [fragment, leadsTo] of [
        ['#/object/../api/v1/-/nodes', '/api/v1/nodes'],
        ['#/object/core/v1/pods/../other', '/api/v1/pods/other'],
        ['#/object/core/v1/pods/default/%2e%2e', '/api/v1/namespaces/default/'],
        ['#/list/core/v1/..?ns=default', '/api/v1/namespaces/'],
      ] as const) {
        await tab.show(fragment);
        await tab.shows('nothing has dots alone for its name', '.problem');
        assert.ok(!asked.includes(leadsTo), leadsTo);
      }
    });
  });
}
