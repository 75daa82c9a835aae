import assert from 'node:assert/strict';
import { it } from 'node:test';
import { Logger } from '../../../src/base/observability/logger.js';
import { openConsole } from '../../../src/tools/cli/open-console.js';
import { tokens } from '../../e2e/support/test-cluster.js';
import { clientSecret } from '../../support/identity-provider.js';
import { type ConsoleInBrowser, configMaps } from '../console-in-browser.js';
import { ConsoleTab } from '../console-tab.js';
import { ReverseProxy } from '../reverse-proxy.js';

const basePath = '/tools/plinth';

/** A console that a proxy serves below a path. A tab counts each request that leaves the path as a fault. */
export function pathCases(own: () => ConsoleInBrowser): void {
  for (const strips of [false, true]) {
    it(`works below a path that a proxy ${strips ? 'takes away' : 'passes on'}`, async () => {
      const proxy = await ReverseProxy.start(basePath, strips);
      const { browser, cluster, provider } = own();
      const { issuer, ca } = provider;
      const below = await openConsole(cluster.first.kubeconfig, {
        bindAddress: '127.0.0.1',
        port: 0,
        origins: [proxy.origin],
        basePath,
        sessionMs: 600_000,
        logger: new Logger('error'),
        oidc: { issuerUrl: issuer, clientId: 'console', clientSecret, ca, scopes: ['openid'] },
      });
      proxy.target.port = below.port;
      assert.equal(below.url, `${proxy.origin}${basePath}/`);
      const redirectUris = [`${below.url}console/oidc/callback`];
      const login = {
        clientId: 'console',
        redirectUris,
        account: 'jane',
        idTokenSeconds: 600,
        givesRefreshTokens: true,
      };
      provider.allowLogins(login);
      const name = `below-${strips}`;
      const tab = await ConsoleTab.open(browser, below.url, issuer);
      try {
        await tab.login(tokens.admin);
        await tab.show('#/list/core/v1/configmaps');
        // Appears by the watch.
        await tab.page.waitForSelector('.table tbody');
        await own().write('POST', configMaps, { metadata: { name } });
        await tab.shows(name, '.table');
        await tab.page.reload();
        await tab.shows(name, '.table');
        const { cookies, names } = {
          cookies: await tab.page.context().cookies(),
          names: await tab.run<string[]>('Object.keys({ ...localStorage, ...sessionStorage })'),
        };
        assert.ok(
          cookies.every(({ name }) => name.endsWith('.tools.plinth')),
          JSON.stringify(cookies),
        );
        assert.ok(
          names.every((each) => each.includes(basePath)),
          names.join(),
        );
        await tab.page.click('text=Log out');
        await tab.page.waitForSelector('#login');
        await tab.page.click(`text=Log in with ${new URL(issuer).host}`);
        await tab.shows('#jane', '.user');
        assert.equal(await tab.run('location.pathname + location.search'), `${basePath}/`);
        assert.deepEqual(tab.faults, []);
      } finally {
        await own().write('DELETE', `${configMaps}/${name}`);
        await tab.close();
        await below.stop();
        proxy.stop();
      }
    });
  }
}
