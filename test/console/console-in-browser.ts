import assert from 'node:assert/strict';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import pg from 'pg';
import type { Browser } from 'playwright-core';
import { Logger } from '../../src/base/observability/logger.js';
import { openConsole } from '../../src/tools/cli/open-console.js';
import type { RunningConsole } from '../../src/tools/console/console-server.js';
import { eventually, freePort, TestCluster, tokens } from '../e2e/support/test-cluster.js';
import { removeWithUs } from '../support/child-guard.js';
import { IdentityProvider } from '../support/identity-provider.js';
import { ConsoleTab, startBrowser } from './console-tab.js';

export const configMaps = '/api/v1/namespaces/default/configmaps';
/** The rows of the table that are drawn. */
export const rows = "document.querySelectorAll('.table tbody tr[data-key]')";

/** A real server over a real database, a console for it that may ask in SQL, and a browser. */
export class ConsoleInBrowser {
  private constructor(
    readonly cluster: TestCluster,
    readonly browser: Browser,
    readonly running: RunningConsole,
    /** A provider whose ID tokens for the client `console` the server accepts. */
    readonly provider: IdentityProvider,
  ) {}

  static async start(): Promise<ConsoleInBrowser> {
    const provider = await IdentityProvider.prepare(await freePort());
    await provider.listen();
    const [clusterStart, browserStart] = await Promise.allSettled([
      TestCluster.start({
        servers: 1,
        flags: ['--authorization-mode=RBAC', ...trusting(provider)],
        controllers: true,
        accounts: false,
        controllerFlags: ['--controllers=customresourcedefinition-status'],
      }),
      startBrowser(),
    ]);
    try {
      if (browserStart.status === 'rejected') throw browserStart.reason;
      if (clusterStart.status === 'rejected') throw clusterStart.reason;
      const { value: cluster } = clusterStart;
      const running = await openConsole(cluster.first.kubeconfig, {
        bindAddress: '127.0.0.1',
        port: 0,
        origins: [],
        sessionMs: 600_000,
        logger: new Logger('error'),
        sql: { url: await readerUrl(cluster.databaseUrl), timeoutMs: 10_000, rows: 100_000 },
      });
      return new ConsoleInBrowser(cluster, browserStart.value, running, provider);
    } catch (error) {
      await provider.close();
      if (browserStart.status === 'fulfilled') await browserStart.value.close();
      if (clusterStart.status === 'fulfilled') await clusterStart.value.stop();
      throw error;
    }
  }

  async stop(): Promise<void> {
    await this.browser.close();
    await this.provider.close();
    await this.running.stop();
    await this.cluster.stop();
  }

  /** Writes something as the administrator. */
  async write(method: string, path: string, body?: object): Promise<unknown> {
    const answer = await this.cluster.first.client.send(method, path, body === undefined ? {} : { body });
    assert.ok(answer.status < 300, `${method} ${path}: ${answer.status} ${answer.text}`);
    return answer.body;
  }

  /** A logged-in tab, closed at the end; nothing bad may have happened in it. */
  async inTab(run: (tab: ConsoleTab) => Promise<void>, login: string = tokens.admin): Promise<void> {
    const tab = await ConsoleTab.open(this.browser, this.running.url);
    try {
      await tab.login(login);
      await run(tab);
      assert.deepEqual(tab.faults, []);
    } finally {
      await tab.close();
    }
  }
}

/** The flags of a server that accepts the provider's ID tokens for the client `console`. */
function trusting({ issuer, ca }: IdentityProvider): string[] {
  const caFile = join(mkdtempSync(join(tmpdir(), 'plinth-provider-')), 'ca.pem');
  removeWithUs(dirname(caFile));
  writeFileSync(caFile, ca);
  return [`--oidc-issuer-url=${issuer}`, '--oidc-client-id=console', `--oidc-ca-file=${caFile}`];
}

/** The database as a role that may read the views and nothing else. */
async function readerUrl(databaseUrl: string): Promise<string> {
  const owner = new pg.Client({ connectionString: databaseUrl });
  await owner.connect();
  try {
    // The server makes the role with the views, beside its start.
    await eventually(
      async () => (await owner.query(`select from pg_roles where rolname = 'plinth_reader'`)).rowCount === 1,
      'the role of readers',
    );
    await owner.query('create role console_reader login; grant plinth_reader to console_reader');
  } finally {
    await owner.end();
  }
  const url = new URL(databaseUrl);
  url.username = 'console_reader';
  return url.href;
}
