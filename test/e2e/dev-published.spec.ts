import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { parse } from 'yaml';
import { endWithUs, removeWithUs } from '../support/child-guard.js';
import { mainFile } from '../support/main-file.js';
import { startTestPostgres, type TestPostgres } from '../support/test-postgres.js';
import { ApiClient } from './support/api-client.js';
import { eventually, freePort } from './support/test-cluster.js';

const clusterInfo = '/api/v1/namespaces/control-public/configmaps/cluster-info';

describe('a dev server that other machines reach', () => {
  const advertised = '192.0.2.7';
  let postgres: TestPostgres;
  let databaseUrl: string;
  let directory: string;
  let port: number;
  const file = (name: string) => readFileSync(join(directory, 'pki', name), 'utf8');

  before(async () => {
    postgres = await startTestPostgres();
    databaseUrl = await postgres.createTestDatabase();
    directory = mkdtempSync(join(tmpdir(), 'plinth-dev-'));
    removeWithUs(directory);
    port = await freePort();
  });
  after(async () => {
    await postgres?.stop();
    rmSync(directory, { recursive: true, force: true });
  });

  /** @param consolePort 0: no console */
  async function withDev(
    flags: readonly string[],
    use: (admin: ApiClient) => Promise<void>,
    { url = databaseUrl, consolePort = 0 } = {},
  ): Promise<void> {
    const own = [`--data-dir=${directory}`, `--secure-port=${port}`, `--console-port=${consolePort}`];
    const child: ChildProcess = spawn(process.execPath, [mainFile, 'dev', ...own, ...flags], {
      env: { ...process.env, PLINTH_DATABASE_URL: url },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    endWithUs(child);
    try {
      await new Promise<void>((resolve, reject) => {
        let said = '';
        child.stdout?.on('data', (chunk: Buffer) => {
          said += String(chunk);
          if (said.includes('Try:')) resolve();
        });
        child.once('exit', (code) => reject(new Error(`dev ended with ${code}`)));
      });
      const credentials = { ca: file('ca.crt'), cert: file('admin.crt'), key: file('admin.key') };
      const admin = new ApiClient(`https://127.0.0.1:${port}`, credentials);
      await use(admin);
      admin.close();
    } finally {
      if (child.exitCode === null) {
        const ended = once(child, 'exit');
        child.kill('SIGTERM');
        await ended;
      }
    }
  }

  const serverOf = async (admin: ApiClient): Promise<string> => {
    const { status, body, text } = await admin.get(clusterInfo);
    assert.equal(status, 200, text);
    return parse(body.data.kubeconfig).clusters[0].cluster.server;
  };

  it('shows SQL and the timeline in its console, on a database of its own', async () => {
    const consolePort = await freePort();
    const at = `http://127.0.0.1:${consolePort}`;
    const send = async (path: string, body: unknown, headers: Record<string, string> = {}) => {
      const answer = await fetch(`${at}${path}`, {
        method: 'POST',
        headers: { origin: at, 'content-type': 'application/json', ...headers },
        body: JSON.stringify(body),
      });
      const text = await answer.text();
      assert.equal(answer.status, 200, text);
      return { cookie: answer.headers.get('set-cookie')?.split(';')[0] ?? '', body: JSON.parse(text) };
    };
    await withDev(
      [],
      async (admin) => {
        const maps = '/api/v1/namespaces/default/configmaps';
        const created = await admin.post(maps, { metadata: { name: 'shown' }, data: { a: 'first' } });
        assert.equal(created.status, 201, created.text);
        await admin.put(`${maps}/shown`, { ...created.body, data: { a: 'second' } });
        const login = readFileSync(join(directory, 'admin.kubeconfig'), 'utf8');
        const { cookie, body } = await send('/console/login', { login });
        const session = { cookie, 'x-plinth-console': body.key as string };
        await eventually(async () => {
          const sql = `select name, data->>'a' from cluster.configmaps where name = 'shown'`;
          const { rows } = (await send('/console/sql', { sql }, session)).body;
          return JSON.stringify(rows) === '[["shown","second"]]';
        }, 'the row of the object');
        await eventually(async () => {
          const what = { resource: 'configmaps', namespace: 'default', name: 'shown' };
          const { columns, rows } = (await send('/console/timeline', what, session)).body;
          const verbs = (rows as string[][]).map((row) => row[(columns as string[]).indexOf('verb')]);
          return verbs.join() === 'updated,created';
        }, 'both changes of the object');
        for (const attack of ['pg_terminate_backend(1)', 'pg_cancel_backend(1)', 'count(*) from pg_stat_activity']) {
          await assert.rejects(send('/console/sql', { sql: `select ${attack}` }, session), /permission denied/, attack);
        }
      },
      { url: '', consolePort },
    );
  });

  it('publishes its local address while no other machine reaches it', () =>
    withDev([], async (admin) => {
      assert.equal(await serverOf(admin), `https://127.0.0.1:${port}`);
    }));

  it('has the advertised address in its certificate, publishes it, and has a right to ask node agents', () =>
    withDev(['--advertise-address', advertised, '--authorization-mode=Node,RBAC'], async (admin) => {
      const serving = new X509Certificate(file('apiserver.crt'));
      assert.equal(serving.checkIP(advertised), advertised);
      assert.equal(await serverOf(admin), `https://${advertised}:${port}`);
      const client = new X509Certificate(file('apiserver-kubelet-client.crt'));
      assert.equal(client.subject, 'CN=kube-apiserver-kubelet-client');
      assert.ok(client.verify(new X509Certificate(file('ca.crt')).publicKey));
      // The requests of a node agent before it shows a log, which no server needs.
      const may = async (resource: string, subresource: string) => {
        const { body } = await admin.post('/apis/authorization.k8s.io/v1/subjectaccessreviews', {
          spec: {
            user: 'kube-apiserver-kubelet-client',
            groups: ['system:authenticated'],
            resourceAttributes: { verb: 'get', resource, subresource, name: 'n1' },
          },
        });
        return body.status.allowed as boolean;
      };
      assert.equal(await may('nodes', 'proxy'), true);
      assert.equal(await may('secrets', ''), false);
    }));

  it('keeps what somebody else has published', () =>
    withDev([], async (admin) => {
      const live = (await admin.get(clusterInfo)).body;
      const kubeconfig = String(live.data.kubeconfig).replace(/https:[^\s"]*/, 'https://balancer.example.com:6443');
      live.data.kubeconfig = kubeconfig;
      assert.equal((await admin.put(clusterInfo, live)).status, 200);
    }).then(() =>
      withDev(['--advertise-address', advertised], async (admin) => {
        assert.equal(await serverOf(admin), 'https://balancer.example.com:6443');
      }),
    ));
});
