import 'reflect-metadata';
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { serverAuth, TestIdentity } from '../../../../test/support/test-authority.js';
import { StartupError } from '../../../base/machinery/startup-error.js';
import type { Sample } from '../../../base/observability/scrape/sample.js';
import { accessOfFile } from '../api-access.js';
import { MetricsClient } from './metrics-client.js';

const never = new AbortController().signal;
let folder: string;
let root: TestIdentity;
let serving: TestIdentity;
let server: Server;
let status = 200;

before(async () => {
  folder = mkdtempSync(join(tmpdir(), 'plinth-top-'));
  root = await TestIdentity.root('root');
  serving = await root.issue({
    subject: [{ CN: ['localhost'] }],
    names: [{ type: 'dns', value: 'localhost' }],
    usages: [serverAuth],
  });
  server = createServer({ cert: serving.cert, key: serving.key }, (request, response) => {
    response.writeHead(request.headers.authorization === 'Bearer right' ? status : 401).end('up 1\n');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
});
after(() => {
  server.close();
  rmSync(folder, { recursive: true });
});

/** What a client that trusts this certificate reads. */
async function sample(
  trusted: string,
  token = 'right',
  port = (server.address() as AddressInfo).port,
): Promise<Sample> {
  const file = join(folder, 'kubeconfig.json');
  const data = Buffer.from(trusted).toString('base64');
  const config = {
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': 'c',
    clusters: [{ name: 'c', cluster: { server: `https://localhost:${port}`, 'certificate-authority-data': data } }],
    users: [{ name: 'u', user: { token } }],
    contexts: [{ name: 'c', context: { cluster: 'c', user: 'u' } }],
  };
  writeFileSync(file, JSON.stringify(config));
  return new MetricsClient(await accessOfFile(file)).sample(never);
}

describe('the client of top', () => {
  it('trusts an authority, or the certificate of the server itself, and no other', async () => {
    for (const trusted of [root.cert, serving.cert]) assert.equal((await sample(trusted)).sum('up'), 1);
    const other = await TestIdentity.root('other');
    await assert.rejects(sample(other.cert), StartupError);
  });

  it('says what is wrong: credentials, rights, a server that is away', async () => {
    await assert.rejects(sample(root.cert, 'wrong'), /does not accept the credentials of the kubeconfig/);
    status = 403;
    await assert.rejects(sample(root.cert), /may not read metrics \(403\); the group system:monitoring may/);
    status = 503;
    await assert.rejects(sample(root.cert), /the server answered 503/);
    status = 200;
    await assert.rejects(sample(root.cert, 'right', 1), /https:\/\/localhost:1\/metrics: .*ECONNREFUSED/);
  });
});
