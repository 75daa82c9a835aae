import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { it } from 'node:test';
import pg from 'pg';
import { eventually } from '../../e2e/support/test-cluster.js';
import { type ConsoleInBrowser, configMaps } from '../console-in-browser.js';
import { hostileText } from '../hostile-objects.js';

/** Questions in SQL, and timelines. */
export function sqlCases(own: () => ConsoleInBrowser): void {
  const write = (method: string, path: string, body?: object) => own().write(method, path, body);

  it('asks in SQL, and shows answers of any length', async () => {
    const value = 'hidden-from-every-reader';
    await write('POST', '/api/v1/namespaces/default/secrets', {
      metadata: { name: 'hidden' },
      stringData: { password: value },
    });
    const owner = new pg.Client({ connectionString: own().cluster.databaseUrl });
    await owner.connect();
    try {
      await own().inTab(async (tab) => {
        const question = 'textarea[aria-label="Question in SQL"]';
        const drawn = 'table.plain tbody tr';
        const ask = async (sql: string) => {
          await tab.page.fill(question, sql);
          await tab.page.press(question, 'Control+Enter');
        };
        await tab.page.click('nav >> text=SQL');
        await ask(
          `select object, data_keys, ${pg.escapeLiteral(hostileText)} from cluster.secrets where name = 'hidden'`,
        );
        await tab.shows('{password}', drawn);
        await tab.shows('<img src=x', drawn);
        const text = (await tab.page.textContent('main')) ?? '';
        assert.ok(!text.includes(value) && !text.includes(Buffer.from(value).toString('base64')));
        for (const [sql, refusal] of [
          ['select data from plinth.objects', 'permission denied'],
          ['delete from cluster.pods', 'syntax error'],
          ['select 1; drop schema cluster', 'multiple commands'],
          [`select pg_read_file('/etc/passwd')`, 'permission denied'],
          [`select '${hostileText.replaceAll("'", "''")}'::int`, '<img src=x'],
        ] as const) {
          await ask(sql);
          await tab.shows(refusal, '[role=alert]');
        }
        await tab.page.fill(question, '');
        await tab.page.locator(question).pressSequentially('select count(*) from cluster.configm');
        await tab.shows('configmaps', '.offered');
        await tab.page.keyboard.press('Tab');
        assert.equal(await tab.page.inputValue(question), 'select count(*) from cluster.configmaps');
        await tab.page.fill('[aria-label="Name of the question"]', hostileText);
        await tab.page.click('text=/^Keep$/');
        await ask(`select '=1+1' as a, 'x' as b`);
        const download = tab.page.waitForEvent('download');
        await tab.page.click('text=Download CSV');
        assert.equal(readFileSync(await (await download).path(), 'utf8'), "a,b\r\n'=1+1,x\r\n");
        await tab.page.locator('.pair button').filter({ hasText: '<img' }).first().click();
        assert.equal(await tab.page.inputValue(question), 'select count(*) from cluster.configmaps');
        await tab.page.click('text=Images in use');
        await tab.shows('image', 'table.plain thead');
        await ask('select name from configmaps where false');
        await tab.shows('0 rows', '[role=status]');
        await ask('select i as "<img src=x onerror=alert(1)>" from generate_series(1, 100000) i');
        await tab.shows('100000 rows', '[role=status]');
        assert.equal(await tab.page.locator(drawn).count(), 500);
        await tab.page.click('text=Show 500 more of 99500');
        await tab.until(`document.querySelectorAll('${drawn}').length === 1000`);
        await tab.page.fill(question, 'select count(*) from cluster.configmaps');
        await tab.page.click('text=/^Explain$/');
        await tab.shows(/actual time=.*Execution Time/s, '.plan');
        await ask('select pg_sleep(600)');
        await tab.page.click('text=/^Stop$/');
        await tab.page.waitForSelector('text=/^Stop$/', { state: 'detached' });
        await eventually(async () => {
          const left = await owner.query(`select from pg_stat_activity where application_name = 'plinth-console'`);
          return left.rowCount === 0;
        }, 'the end of the question');
      });
    } finally {
      await owner.end();
    }
  });

  it('shows what happened to an object, and what happens', async () => {
    await write('POST', configMaps, { metadata: { name: 'told' }, data: { a: 'first' } });
    await write('PUT', `${configMaps}/told`, { metadata: { name: 'told' }, data: { a: 'second' } });
    await own().inTab(async (tab) => {
      await tab.show('#/object/core/v1/configmaps/default/told?tab=timeline');
      await tab.shows('created', '.timeline li:last-child');
      await tab.shows('first', '.timeline li:first-child .removed');
      await tab.shows('second', '.timeline li:first-child .added');
      await write('PUT', `${configMaps}/told`, { metadata: { name: 'told' }, data: { a: 'third' } });
      await tab.shows('third', '.timeline li:first-child .added');
    });
  });
}
