import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { after, before, describe, it } from 'node:test';
import type { TLSSocket } from 'node:tls';
import { serverAuth, TestIdentity } from '../../../test/support/test-authority.js';
import type { ClientTls } from '../../base/outgoing/client-config.js';
import { DeniedAddresses } from '../../base/outgoing/denied-addresses.js';
import { checkAvailability } from './availability.js';
import { ExtensionBackend } from './extension-backend.js';
import { identityFields, noNames } from './identity-fields.js';

describe('the check of an extension server', () => {
  const noCertificate: ClientTls = {
    ...{ ca: undefined, cert: undefined, key: undefined, serverName: undefined, insecureSkipVerify: false },
  };
  let server: Server;
  let caBundle: string;
  let withCertificate: ClientTls;

  before(async () => {
    const root = await TestIdentity.root('root');
    caBundle = Buffer.from(root.cert).toString('base64');
    const names = [{ type: 'dns', value: 'flavours.extensions.svc' }] as const;
    const { chain, key } = await root.issue({ subject: [{ CN: ['server'] }], usages: [serverAuth], names });
    const client = await root.issue({ subject: [{ CN: ['aggregator'] }] });
    withCertificate = { ...noCertificate, cert: client.chain, key: client.key };
    // Forbids all that comes without a certificate, and fails all that asks for `failing`.
    server = createServer(
      { cert: chain, key, ca: root.cert, requestCert: true, rejectUnauthorized: false },
      (request, response) => {
        const isKnown = (request.socket as TLSSocket).authorized;
        response.statusCode = !isKnown ? 403 : request.url?.includes('failing') ? 500 : 200;
        response.end('{}');
      },
    );
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
  });
  after(() => {
    server.close();
    server.closeAllConnections();
  });

  const check = async (tls: ClientTls, version = 'v1') => {
    const { port } = server.address() as AddressInfo;
    const remote = { namespace: 'extensions', service: 'flavours', port: 443, caBundle, insecureSkipTLSVerify: false };
    const backend = new ExtensionBackend(remote, {
      services: { resolve: () => ({ host: '127.0.0.1', port }) },
      denied: new DeniedAddresses([]),
      credentials: { tls: async () => tls },
      identity: { get: async () => identityFields(noNames) },
    });
    const apiService = { name: `${version}.flavours.example.dev`, group: 'flavours.example.dev', version, remote };
    const service = apiService as unknown as Parameters<typeof checkAvailability>[0];
    const availability = await checkAvailability(service, backend, new AbortController().signal);
    backend.retire();
    return availability;
  };
  const url = 'https://flavours.extensions.svc/apis/flavours.example.dev';

  it('passes with the certificate', async () => {
    assert.equal((await check(withCertificate)).reason, 'Passed');
  });

  it('names the flag of the certificate that this server does not have when it is refused', async () => {
    const { reason, message } = await check(noCertificate);
    assert.equal(reason, 'FailedDiscoveryCheck');
    assert.equal(
      message,
      `failing or missing response from ${url}/v1: bad status from ${url}/v1: 403 (this server presents no certificate: --proxy-client-cert-file is not set)`,
    );
  });

  it('does not blame the certificate for other answers', async () => {
    const { message } = await check(withCertificate, 'failing');
    assert.equal(message, `failing or missing response from ${url}/failing: bad status from ${url}/failing: 500`);
  });
});
