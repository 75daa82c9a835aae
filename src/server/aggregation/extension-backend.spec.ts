import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { after, before, it } from 'node:test';
import { serverAuth, TestIdentity } from '../../../test/support/test-authority.js';
import { DeniedAddresses } from '../../base/outgoing/denied-addresses.js';
import { ServiceFault } from '../../base/outgoing/service-fault.js';
import { BackendFault } from './backend-fault.js';
import { ExtensionBackend } from './extension-backend.js';
import { identityFields, noNames } from './identity-fields.js';

const serverName = 'flavours.extensions.svc';
const endpoints: Server[] = [];
let connections = 0;
let caBundle: string;
/** The endpoints of the service, by their places in `endpoints`. */
let ready: number[] = [];

before(async () => {
  const root = await TestIdentity.root('root');
  caBundle = Buffer.from(root.cert).toString('base64');
  const names = [{ type: 'dns', value: serverName }] as const;
  const { chain, key } = await root.issue({ subject: [{ CN: ['server'] }], usages: [serverAuth], names });
  for (const name of ['first', 'second']) {
    const server = createServer({ cert: chain, key }, (_request, response) => response.end(name));
    server.on('connection', () => connections++);
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    endpoints.push(server);
  }
});

after(() => {
  for (const server of endpoints) {
    server.close();
    server.closeAllConnections();
  }
});

it('sends each request to an endpoint that the service has now, on kept connections', async () => {
  const own = { ca: undefined, cert: undefined, key: undefined, serverName: undefined, insecureSkipVerify: false };
  const remote = { namespace: 'extensions', service: 'flavours', port: 443, caBundle, insecureSkipTLSVerify: false };
  const backend = new ExtensionBackend(remote, {
    services: {
      resolve: () => {
        const [place] = ready;
        if (place === undefined) throw new ServiceFault('no endpoints available', 'MissingEndpoints');
        return { host: '127.0.0.1', port: ((endpoints[place] as Server).address() as AddressInfo).port };
      },
    },
    denied: new DeniedAddresses([]),
    credentials: { tls: async () => own },
    identity: { get: async () => identityFields(noNames) },
  });
  const { signal } = new AbortController();
  const asked = async () => {
    const { response } = await backend.call({ method: 'GET', path: '/', headers: { host: backend.host }, signal });
    return Buffer.concat(await response.toArray()).toString();
  };
  ready = [0];
  assert.deepEqual([await asked(), await asked(), connections], ['first', 'first', 1]);
  ready = [1];
  assert.deepEqual([await asked(), await asked(), connections], ['second', 'second', 2]);
  ready = [];
  await assert.rejects(asked(), (error) => error instanceof BackendFault && error.cause instanceof ServiceFault);
  ready = [0];
  assert.deepEqual([await asked(), connections], ['first', 2]);
  backend.retire();
});
