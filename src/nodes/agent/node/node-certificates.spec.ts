import assert from 'node:assert/strict';
import { promises as fs } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, it } from 'node:test';
import type { Timers } from '../../../base/machinery/timers.js';
import { vendorNames } from '../../../base/machinery/vendor.js';
import type { ApiUser } from '../../connection/api-connection.js';
import { ApiError } from '../../connection/api-error.js';
import { type CertificatePurpose, requestNodeCertificate } from './node-certificates.js';

interface Kept {
  readonly metadata: { readonly name: string };
  readonly spec: { readonly request: string };
  status?: object;
}

/** An API that keeps requests and answers nobody's but by what a test does at a wait. */
class Requests {
  readonly kept = new Map<string, Kept>();
  isAway = false;

  readonly api = {
    send: async (method: string, path: string, { body }: { readonly body?: Kept }) => {
      if (this.isAway) throw new Error('connect ECONNREFUSED');
      if (method === 'POST' && body !== undefined) {
        const { name } = body.metadata;
        if (this.kept.has(name)) throw new ApiError(409, 'AlreadyExists', `"${name}" already exists`);
        this.kept.set(name, body);
        return body;
      }
      const found = this.kept.get(path.split('/').at(-1) ?? '');
      if (found === undefined) throw new ApiError(404, 'NotFound', 'not found');
      return found;
    },
  } as unknown as ApiUser;

  only(): Kept {
    assert.equal(this.kept.size, 1);
    return [...this.kept.values()][0] as Kept;
  }
}

describe('requestNodeCertificate', () => {
  let folder: string;
  let requests: Requests;
  beforeEach(async () => {
    folder = await fs.mkdtemp(join(tmpdir(), 'plinth-certificates-'));
    requests = new Requests();
  });
  afterEach(() => fs.rm(folder, { recursive: true }));

  /** One process that asks, and what happens at its first wait. */
  const ask = (atWait: (stop: AbortController) => void, hosts: readonly string[] = ['a']) => {
    const stop = new AbortController();
    const timers = { wait: async () => atWait(stop) } as unknown as Timers;
    const purpose: CertificatePurpose = { kind: 'server', hosts };
    const source = { api: requests.api, names: vendorNames('k8s.io'), nodeName: 'a', timers, folder };
    return requestNodeCertificate(source, purpose, stop.signal);
  };
  const sign = () => {
    requests.only().status = { certificate: Buffer.from('the certificate').toString('base64') };
  };
  const isStopped = { message: 'stopped' };

  it('goes on waiting for a request that an ended process has left, with its key', async () => {
    await assert.rejects(
      ask((stop) => stop.abort()),
      isStopped,
    );
    const { name } = requests.only().metadata;
    const { certificate, privateKey } = await ask(sign);
    assert.equal(certificate, 'the certificate');
    assert.match(privateKey, /BEGIN EC PRIVATE KEY/);
    assert.equal(requests.only().metadata.name, name);
    assert.deepEqual(await fs.readdir(folder), [], 'the next request has another key');
  });

  it('makes no second request because the API was away for a moment', async () => {
    const hasGone = () => {
      requests.isAway = true;
    };
    await assert.rejects(ask(hasGone), /ECONNREFUSED/);
    requests.isAway = false;
    assert.equal((await ask(sign)).certificate, 'the certificate');
  });

  it('makes a request again that was removed, and another one for other addresses', async () => {
    const [first, ...others] = [['a'], ['a'], ['b']];
    await assert.rejects(
      ask((stop) => stop.abort(), first),
      isStopped,
    );
    const { name } = requests.only().metadata;
    for (const hosts of others) {
      requests.kept.clear();
      await assert.rejects(
        ask((stop) => stop.abort(), hosts),
        isStopped,
      );
      assert.equal(requests.only().metadata.name === name, hosts[0] === 'a');
    }
  });

  it('asks with another key when a request was denied, or somebody has made another one under its name', async () => {
    const deny = () => {
      requests.only().status = { conditions: [{ type: 'Denied', message: 'unknown machine' }] };
    };
    await assert.rejects(ask(deny), /refused: unknown machine/);
    const denied = requests.only();
    requests.kept.clear();
    await assert.rejects(
      ask((stop) => stop.abort()),
      isStopped,
    );
    const { metadata } = requests.only();
    assert.notEqual(metadata.name, denied.metadata.name);
    requests.kept.set(metadata.name, { metadata, spec: denied.spec });
    await assert.rejects(ask(sign), /somebody else/);
    requests.kept.clear();
    assert.equal((await ask(sign)).certificate, 'the certificate');
  });
});
