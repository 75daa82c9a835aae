import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { it } from 'node:test';
import { Logger } from '../../../src/base/observability/logger.js';
import { openConsole } from '../../../src/tools/cli/open-console.js';
import { tokens } from '../../e2e/support/test-cluster.js';
import { clientSecret } from '../../support/identity-provider.js';
import { type ConsoleInBrowser, configMaps, rows } from '../console-in-browser.js';
import { ConsoleTab, editorContent } from '../console-tab.js';

/** Logins, rights and the keyboard. */
export function loginCases(own: () => ConsoleInBrowser): void {
  const write = (method: string, path: string, body?: object) => own().write(method, path, body);

  it('lets in who has credentials, and forgets them at logout', async () => {
    const tab = await ConsoleTab.open(own().browser, own().running.url);
    await tab.page.fill('#login', '<img src=x onerror=alert(1)>');
    await tab.page.click('button[type=submit]');
    await tab.shows('not a client configuration', '[role=alert]');
    await tab.page.fill('#login', 'wrong-token');
    await tab.page.click('button[type=submit]');
    await tab.shows('not accept', '[role=alert]');
    await tab.login(readFileSync(own().cluster.first.kubeconfig, 'utf8'));
    await tab.shows('admin', '.user');
    const stored = await tab.run<string>(
      'JSON.stringify({ ...localStorage, ...sessionStorage, cookie: document.cookie })',
    );
    assert.doesNotMatch(stored, /PRIVATE|client-key|BEGIN/);
    await tab.page.reload();
    await tab.shows('admin', '.user');
    await tab.page.click('text=Log out');
    await tab.page.waitForSelector('#login');
    assert.equal(await tab.run("localStorage.getItem('plinth-console-key')"), null);
    assert.deepEqual(await tab.page.context().cookies(), []);
    assert.deepEqual(tab.faults, []);
    await tab.close();
  });

  it('lets in whom the provider knows, and shows what was shown before', async () => {
    const { provider, browser, cluster } = own();
    const { issuer, ca } = provider;
    const signOn = await openConsole(cluster.first.kubeconfig, {
      bindAddress: '127.0.0.1',
      port: 0,
      origins: [],
      sessionMs: 600_000,
      logger: new Logger('error'),
      oidc: { issuerUrl: issuer, clientId: 'console', clientSecret, ca, scopes: ['openid'] },
    });
    const redirectUris = [`${signOn.url}console/oidc/callback`];
    const login = { clientId: 'console', redirectUris, account: 'jane', idTokenSeconds: 600, givesRefreshTokens: true };
    provider.allowLogins(login);
    const tab = await ConsoleTab.open(browser, signOn.url, issuer);
    try {
      await tab.show('#/list/core/v1/secrets');
      await tab.page.click(`text=Log in with ${new URL(issuer).host}`);
      await tab.shows('#jane', '.user');
      await tab.shows(/cannot list resource "secrets"/, '.problem');
      assert.equal(await tab.run('location.pathname + location.search'), '/');
      const stored = 'JSON.stringify({ ...localStorage, ...sessionStorage, cookie: document.cookie })';
      assert.doesNotMatch(await tab.run<string>(stored), /eyJ|oidc/);
      await tab.page.reload();
      await tab.shows('#jane', '.user');
      await tab.page.click('text=Log out');
      await tab.page.waitForSelector('#login');
      // A login that somebody else has begun.
      await tab.page.goto(`${redirectUris[0]}?code=stolen&state=stolen`);
      await tab.shows('has not begun in this tab', '[role=alert]');
      assert.deepEqual(tab.faults, []);
    } finally {
      await tab.close();
      await signOn.stop();
    }
  });

  it('shows nobody what the user before has typed', async () => {
    const tab = await ConsoleTab.open(own().browser, own().running.url);
    const { page } = tab;
    const typed = async () => {
      await tab.show('#/create');
      await page.waitForSelector(editorContent);
      return tab.yamlText();
    };
    const type = async () => {
      await typed();
      await tab.fillYaml('kind: Secret\nstringData: {password: typed-by-admin}\n');
    };
    await tab.login(tokens.admin);
    await type();
    await page.click('text=Log out');
    await page.waitForSelector('#login');
    await tab.login(tokens.alice);
    await tab.shows('alice', '.user');
    assert.doesNotMatch(await typed(), /typed-by-admin/);
    await page.click('text=Log out');
    await page.waitForSelector('#login');
    await tab.login(tokens.admin);
    await tab.shows('admin', '.user');
    await type();
    // The session ends without a logout.
    await page.context().clearCookies();
    await tab.show('#/list/core/v1/configmaps');
    await page.waitForSelector('#login');
    await tab.login(tokens.alice);
    await tab.shows('alice', '.user');
    assert.doesNotMatch(await typed(), /typed-by-admin/);
    assert.deepEqual(tab.faults, []);
    await tab.close();
  });

  it('gives a user what the user may, and says what not', async () => {
    await own().inTab(async (tab) => {
      await tab.shows('alice', '.user');
      await tab.show('#/list/core/v1/secrets');
      await tab.shows(/forbidden/i, '.problem');
      await tab.show('#/sql');
      await tab.shows('--sql-url', 'main');
      await tab.show('#/object/core/v1/configmaps/default/any?tab=timeline');
      await tab.shows('--sql-url', 'main');
    }, tokens.alice);
  });

  it('can be used by keys alone, as fast as they come', async () => {
    await write('POST', configMaps, { metadata: { name: 'keyed' }, data: { a: '1' } });
    const tab = await ConsoleTab.open(own().browser, own().running.url);
    const { keyboard } = tab.page;
    const press = async (...keys: string[]) => {
      for (const key of keys) await keyboard.press(key);
    };
    await tab.page.waitForSelector('#login');
    await press('Tab');
    await keyboard.type(tokens.admin);
    await press('Tab', 'Tab', 'Enter');
    await tab.page.waitForSelector('nav section');
    await press(':');
    await keyboard.type('configmaps');
    await press('Enter');
    await tab.live();
    await press('/');
    await keyboard.type('keyed');
    await press('Enter');
    await tab.until(`${rows}.length === 1`);
    await press('j', 'Enter', 'y');
    await tab.shows('a: "1"', '.code');
    // Each key needs the object that the one before it made.
    await press('D', 'Escape', 'D', 'Escape', '?', 'Escape', 'o', 'y', 'D', 'Escape', 'E');
    await tab.until(`document.activeElement?.matches('.edit .code') === true`);
    assert.equal(await tab.page.locator('dialog').count(), 0);
    await press('Control+Home', 'ArrowDown', 'ArrowDown', 'End', 'ArrowLeft', 'Backspace');
    await keyboard.type('2');
    await press('Tab', 'Enter');
    await tab.shows('a: "2"', '.outcome.tried .added');
    await press('Enter');
    await tab.page.waitForSelector('.edit', { state: 'detached' });
    await tab.shows('a: "2"', '.code');
    await press('Escape');
    await tab.page.waitForSelector('.panel', { state: 'detached' });
    await tab.live();
    await press('j', 'Enter', 'y');
    await tab.shows('a: "2"', '.code');
    await press('D', 'Tab', 'Tab', 'Enter');
    await tab.shows('The object was deleted');
    assert.equal((await own().cluster.first.client.get(`${configMaps}/keyed`)).status, 404);
    await tab.page.waitForSelector('dialog', { state: 'detached' });
    await press('s');
    await tab.shows('Processor', '.cards');
    await press('m', 'n');
    await keyboard.type('default');
    await press('Enter');
    await tab.shows('Map of default', 'main h1');
    await press('t');
    assert.deepEqual(tab.faults, []);
    await tab.close();
  });
}
