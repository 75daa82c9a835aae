import assert from 'node:assert/strict';
import { promises as fs } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { TestIdentity } from '../../../../test/support/test-authority.js';
import type { Timers } from '../../../base/machinery/timers.js';
import { vendorNames } from '../../../base/machinery/vendor.js';
import type { ApiUser } from '../../connection/api-connection.js';
import { keepCertificate } from './node-certificates.js';
import { type RotationDependencies, rotateCertificate } from './rotate-certificate.js';

const backdateMs = 300_000;
const start = Date.parse('2030-01-01T00:00:00Z');

let folder: string;
let authority: TestIdentity;
before(async () => {
  folder = await fs.mkdtemp(join(tmpdir(), 'plinth-rotation-'));
  authority = await TestIdentity.root('nodes');
});
after(() => fs.rm(folder, { recursive: true, force: true }));

/** A signer that backdates certificates, and a clock that jumps to the end of each wait. */
class Scene {
  now = start;
  /** When requests came, in milliseconds since the start. */
  readonly requests: number[] = [];
  readonly used: number[] = [];
  readonly waits: number[] = [];
  readonly stop = new AbortController();
  /** Until this time the server is away. */
  awayUntil = start;

  constructor(readonly lifeMs: number) {}

  readonly timers: Timers = {
    now: () => this.now,
    elapsed: () => this.now,
    wait: async (milliseconds) => {
      this.waits.push(milliseconds);
      this.now += milliseconds;
    },
  };

  api(): ApiUser {
    let spec: object = {};
    const send = async (_method: string, _path: string, { body }: { readonly body?: { readonly spec: object } }) => {
      if (this.now < this.awayUntil) throw new Error('connect ECONNREFUSED');
      if (body !== undefined) {
        this.requests.push(this.now - start);
        spec = body.spec;
        return body;
      }
      return { spec, status: { certificate: Buffer.from(await this.sign()).toString('base64') } };
    };
    return { send } as unknown as ApiUser;
  }

  async sign(): Promise<string> {
    const { cert } = await authority.issue({
      subject: [{ CN: ['system:node:a'] }],
      notBefore: new Date(this.now - backdateMs),
      notAfter: new Date(this.now + this.lifeMs),
    });
    return cert;
  }

  /** Rotates until this many certificates were used. */
  async rotate(count: number, more: Partial<RotationDependencies> = {}): Promise<void> {
    await rotateCertificate(
      {
        ...{ api: this.api(), names: vendorNames('k8s.io'), nodeName: 'a', timers: this.timers, folder },
        purpose: { kind: 'client' },
        present: await this.sign(),
        use: () => {
          this.used.push(this.now - start);
          if (this.used.length === count) this.stop.abort();
        },
        random: () => 0.5,
        logger: { info: () => undefined, warn: () => undefined } as never,
        ...more,
      },
      this.stop.signal,
    );
  }
}

describe('rotateCertificate', () => {
  it('renews certificates after 70 to 90 percent of what is left of their life, however short that is', async () => {
    const scene = new Scene(60_000);
    await scene.rotate(4, { present: undefined });
    assert.deepEqual(scene.requests, [0, 48_000, 96_000, 144_000]);
    const day = new Scene(86_400_000);
    await day.rotate(2, { present: undefined });
    assert.deepEqual(day.requests, [0, 69_120_000]);
  });

  it('renews one that was stored before the process began by what was left of its life then', async () => {
    const scene = new Scene(60_000);
    const present = await scene.sign();
    const path = await keepCertificate(folder, 'client', { certificate: present, privateKey: '' }, start);
    await fs.utimes(path, new Date(start), new Date(start));
    scene.now += 10_000;
    await scene.rotate(1, { present });
    assert.deepEqual(scene.requests, [48_000]);
  });

  it('renews one of unknown age by its whole life', async () => {
    const scene = new Scene(600_000);
    // Of 15 minutes, 80 percent are 12, of which 5 were over when it began.
    await scene.rotate(1);
    assert.deepEqual(scene.requests, [420_000]);
  });

  it('does not ask in a loop for certificates that have expired when they come', async () => {
    const scene = new Scene(-1000);
    await scene.rotate(4, { present: undefined });
    assert.deepEqual(scene.requests, [0, 5_000, 10_000, 15_000]);
  });

  it('goes on when the server was away, asking less and less often', async () => {
    const scene = new Scene(600_000);
    scene.awayUntil = start + 520_000;
    await scene.rotate(1);
    // The fake clock makes all of them 75 percent.
    assert.deepEqual(scene.waits, [420_000, 1_500, 3_000, 6_000, 12_000, 24_000, 24_000, 24_000, 24_000]);
    assert.equal(scene.used.length, 1);
    assert.ok((scene.used[0] ?? 0) < 600_000, 'before the end of the old one');
  });

  it('asks like a new node when the certificate has expired meanwhile', async () => {
    const scene = new Scene(600_000);
    let opened = 0;
    let stopped = 0;
    const refused = { send: () => Promise.reject(new Error('401')) } as unknown as ApiUser;
    const bootstrap = async () => {
      opened += 1;
      const stop = () => {
        stopped += 1;
      };
      return { api: scene.api(), stop };
    };
    await scene.rotate(1, { api: refused, bootstrap });
    assert.deepEqual([opened, stopped], [1, 1]);
    assert.ok((scene.used[0] ?? 0) > 600_000);
  });
});
