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

  it('leads from what was deleted to the moment before, and to its restore', async () => {
    await write('POST', '/api/v1/namespaces', { metadata: { name: 'emptied' } });
    const inside = '/api/v1/namespaces/emptied/configmaps';
    for (const name of ['first', 'second']) await write('POST', inside, { metadata: { name }, data: { a: name } });
    await own().inTab(async (tab) => {
      await tab.show('#/list/core/v1/namespaces?open=%2Femptied');
      await tab.page.click('.panel >> text=/^Delete$/');
      await tab.shows('emptied will be deleted, and everything in it: 2 config maps.', 'dialog');
      assert.equal(
        await tab.page.locator('dialog select').count(),
        0,
        'the contents of a namespace are always deleted',
      );
      await tab.page.click('dialog >> text=Cancel');
      await tab.show('#/list/core/v1/configmaps?ns=emptied&open=emptied%2Ffirst');
      // The heading is there before the object.
      await tab.shows('Created', '.panel');
      for (const name of ['first', 'second']) await write('DELETE', `${inside}/${name}`);
      await tab.shows('The object was deleted', '.panel');
      await tab.page.click('text=See it before that');
      await tab.shows('As of', '.time-bar.past');
      await tab.shows('Restore it as it was…', '.panel');
      // The namespace itself stands for all that was in it.
      await tab.show('#/list/core/v1/namespaces?open=%2Femptied');
      await tab.page.click('text=Restore it with what was in it…');
      await tab.shows('Config map first', '.steps');
      await tab.show('#/list/core/v1/nodes');
      await tab.page.click('[aria-label="All namespaces"]');
      await tab.page.click('.time-bar >> text=Restore…');
      await tab.shows('Which namespace?', 'main');
      await tab.page.click('main a:text-is("emptied")');
      await tab.shows('create 2', '.plan');
      await tab.page.click('text=Check with the server');
      await tab.shows('The server would accept everything.', 'main');
      await tab.page.click('text=Restore these 2');
      await tab.shows('Restored 2', 'main');
    });
    const { body } = await own().cluster.first.client.get(inside);
    const data = (body as { items: { data: object }[] }).items.map((each) => each.data);
    assert.deepEqual(data, [{ a: 'first' }, { a: 'second' }]);
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
