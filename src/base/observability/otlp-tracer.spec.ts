import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { OtlpReceiver } from '../../../test/support/otlp-receiver.js';
import { serverAuth, TestIdentity } from '../../../test/support/test-authority.js';
import { readTracingConfiguration } from '../config/tracing-configuration.js';
import { vendorNames } from '../machinery/vendor.js';
import { OtlpTracer } from './otlp-tracer.js';

describe('OtlpTracer', () => {
  let folder: string;
  let receiver: OtlpReceiver;
  const variables: Record<string, string> = {};
  const file = (name: string) => join(folder, name);

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'plinth-otlp-'));
    const authority = await TestIdentity.root('traces');
    const names = [{ type: 'dns', value: 'localhost' }] as const;
    const server = await authority.issue({ subject: [{ CN: ['collector'] }], usages: [serverAuth], names: [...names] });
    const client = await authority.issue({ subject: [{ CN: ['plinth'] }] });
    await writeFile(file('ca.pem'), authority.cert);
    await writeFile(file('client.pem'), client.cert);
    await writeFile(file('client.key'), client.key);
    receiver = await OtlpReceiver.start({ cert: server.chain, key: server.key, ca: authority.cert, requestCert: true });
    Object.assign(variables, {
      OTEL_EXPORTER_OTLP_CERTIFICATE: file('ca.pem'),
      OTEL_EXPORTER_OTLP_CLIENT_CERTIFICATE: file('client.pem'),
      OTEL_EXPORTER_OTLP_CLIENT_KEY: file('client.key'),
      OTEL_EXPORTER_OTLP_HEADERS: 'authorization=Bearer%20word',
    });
    Object.assign(process.env, variables);
  });
  after(async () => {
    for (const name of Object.keys(variables)) delete process.env[name];
    await receiver?.stop();
    await rm(folder, { recursive: true, force: true });
  });

  async function configuration(endpoint: string) {
    const lines = ['apiVersion: apiserver.config.k8s.io/v1', 'kind: TracingConfiguration', `endpoint: ${endpoint}`];
    await writeFile(file('tracing.yaml'), [...lines, 'samplingRatePerMillion: 1000000'].join('\n'));
    return readTracingConfiguration(file('tracing.yaml'), vendorNames('k8s.io', 'kubernetes'));
  }

  async function send(endpoint: string): Promise<void> {
    const tracer = new OtlpTracer({ ...(await configuration(endpoint)), service: 'test', version: '1' });
    tracer.begin('a span')?.end();
    await tracer.stop().catch(() => undefined);
  }

  it('sends spans over TLS, with the header fields and certificates of the variables', async () => {
    await send(receiver.endpoint.replace('127.0.0.1', 'https://localhost'));
    assert.deepEqual(
      receiver.spans.map(({ name }) => name),
      ['a span'],
    );
    assert.deepEqual(receiver.authorizations, ['Bearer word']);
  });

  it('sends nothing to a collector that it can not verify, nor in the clear to one with TLS', async () => {
    const before = receiver.spans.length;
    await writeFile(file('ca.pem'), (await TestIdentity.root('others')).cert);
    await send(receiver.endpoint.replace('127.0.0.1', 'https://localhost'));
    await send(receiver.endpoint);
    assert.equal(receiver.spans.length, before);
  });

  it('refuses files that are not there, and endpoints of other schemes', async () => {
    for (const endpoint of ['http://a:1', 'https://a', 'https://a:1/path', 'https://127.0.0.1:1', 'ftp://a:1']) {
      await assert.rejects(configuration(endpoint), /endpoint: must be host:port/, endpoint);
    }
    process.env.OTEL_EXPORTER_OTLP_CERTIFICATE = file('absent.pem');
    await assert.rejects(configuration('https://a:1'), /OTEL_EXPORTER_OTLP_CERTIFICATE: ENOENT/);
  });
});
