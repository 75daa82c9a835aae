import assert from 'node:assert/strict';
import { it } from 'node:test';
import { eventually, tokens } from '../../e2e/support/test-cluster.js';
import { type ConsoleInBrowser, configMaps } from '../console-in-browser.js';
import { hostileText, nothingRan } from '../hostile-objects.js';

/** The time machine. */
export function pastCases(own: () => ConsoleInBrowser): void {
  const write = (method: string, path: string, body?: object) => own().write(method, path, body);

  it('shows the past, what changed since, and brings it back', async () => {
    await write('POST', configMaps, { metadata: { name: 'travels' }, data: { a: 'first' } });
    await write('POST', configMaps, { metadata: { name: 'vanishes' } });
    const at = await laterThan(Date.now());
    const annotations = { note: hostileText };
    await write('PUT', `${configMaps}/travels`, { metadata: { name: 'travels', annotations }, data: { a: 'second' } });
    await write('DELETE', `${configMaps}/vanishes`);
    const travels = '#/object/core/v1/configmaps/default/travels?tab=yaml';
    await own().inTab(async (tab) => {
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
    const { client } = own().cluster.first;
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
    await own().inTab(async (tab) => {
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
    await own().inTab(async (tab) => {
      await tab.show(`#/list/core/v1/secrets?at=${at}`);
      await tab.shows('As of', '.time-bar.past');
      await tab.shows(/forbidden/i, '.problem');
      await tab.show('#/changes?ns=kube-system');
      await tab.shows(/Not compared: .*secrets.*forbidden/, 'main');
    }, tokens.alice);
  });
}

/** A time in the address of the console, after which nothing has been written yet. */
async function laterThan(before: number): Promise<string> {
  await eventually(async () => Date.now() > before + 1, 'the next millisecond');
  return encodeURIComponent(new Date().toISOString());
}
