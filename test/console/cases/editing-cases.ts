import assert from 'node:assert/strict';
import { it } from 'node:test';
import { type ConsoleInBrowser, configMaps } from '../console-in-browser.js';
import { editorContent } from '../console-tab.js';

/** Editing objects, and creating them. */
export function editingCases(own: () => ConsoleInBrowser): void {
  const write = (method: string, path: string, body?: object) => own().write(method, path, body);

  it('edits after a dry run, and tells of conflicts', async () => {
    await write('POST', configMaps, { metadata: { name: 'edited' }, data: { a: '1' } });
    await own().inTab(async (tab) => {
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
      const live = (await own().cluster.first.client.get(`${configMaps}/edited`)).body;
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
      const after = (await own().cluster.first.client.get(`${configMaps}/edited`)).body;
      assert.deepEqual(after.data, { a: '2' });
    });
  });

  it('creates several objects from pasted text, after a dry run', async () => {
    const map = (name: string, data: string) =>
      `apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: ${name}\n  namespace: default\n${data}`;
    await own().inTab(async (tab) => {
      await tab.page.keyboard.press('c');
      await tab.fillYaml(`${map('pasted-a', 'data: {a: "1"}')}\n---\n${map('pasted-b', 'dat: {}')}\n`);
      await tab.page.click('text=Try (dry run)');
      await tab.shows('would be created', '.outcomes li');
      await tab.shows(/refused.*dat/s, '.outcomes li');
      assert.equal((await own().cluster.first.client.get(`${configMaps}/pasted-a`)).status, 404);
      await tab.fillYaml(`${map('pasted-a', 'data: {a: "1"}')}\n---\n${map('pasted-b', 'data: {}')}\n`);
      await tab.page.click('text=Try (dry run)');
      await tab.page.click('text=Apply all 2');
      await tab.shows(/^created/, '.outcomes li:nth-child(2)');
      assert.equal((await own().cluster.first.client.get(`${configMaps}/pasted-b`)).status, 200);
    });
  });

  it('creates a namespace together with what goes into it', async () => {
    const namespace = 'apiVersion: v1\nkind: Namespace\nmetadata: {name: pasted}\n';
    const map = (where: string) =>
      `---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: inside, namespace: ${where}}\ndata: {a: "1"}\n`;
    await own().inTab(async (tab) => {
      await tab.page.keyboard.press('c');
      await tab.fillYaml(`${namespace}${map('pasted')}${map('elsewhere')}`);
      await tab.page.click('text=Try (dry run)');
      await tab.shows('1 of 3 objects are refused', '.actions');
      await tab.shows(/refused.*"elsewhere" not found/s, '.outcomes li');
      await tab.fillYaml(`${namespace}${map('pasted')}`);
      await tab.page.click('text=Try (dry run)');
      await tab.shows(/comes after its namespace.*once the namespace pasted is there/s, '.outcomes li');
      await tab.page.click('text=Apply all 2');
      await tab.shows(/^created/, '.outcomes li:nth-child(2)');
      const made = await own().cluster.first.client.get('/api/v1/namespaces/pasted/configmaps/inside');
      assert.deepEqual(made.body.data, { a: '1' });
    });
  });
}
