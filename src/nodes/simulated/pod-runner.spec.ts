import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { parseCidr } from '../../base/config/network.js';
import { Logger } from '../../base/observability/logger.js';
import { ManualTimers } from '../../loops/controllers/testing/manual-timers.js';
import type { Pod } from '../../objects/apis/core/v1/pod.types.js';
import type { ApiUser } from '../connection/api-connection.js';
import { PodAddresses } from './pod-addresses.js';
import { PodRunner } from './pod-runner.js';

const turn = () => new Promise((resolve) => setImmediate(resolve));

/** A pod on a node whose writes the test answers. */
class Scene {
  readonly answers: ((version: number) => void)[] = [];
  readonly runner: PodRunner;
  readonly timers = new ManualTimers();
  writes = 0;

  constructor(
    private readonly spec: object = {},
    hostIP = '1.1.1.1',
  ) {
    const send = () => {
      this.writes += 1;
      return new Promise((resolve) => {
        this.answers.push((version) => resolve({ metadata: { resourceVersion: String(version) } }));
      });
    };
    const range = parseCidr('10.0.0.0/24');
    assert.ok(range);
    this.runner = new PodRunner(
      {
        api: { send } as unknown as ApiUser,
        timers: this.timers,
        logger: new Logger('error', 'text', () => undefined),
        backOff: { firstMs: 10_000, longestMs: 300_000 },
        hostIP,
        addresses: new PodAddresses(range, 0n, 256n),
        record: () => undefined,
        attached: () => undefined,
        checkCapacity: () => () => undefined,
        ended: () => undefined,
        signal: new AbortController().signal,
      },
      this.pod(1, undefined),
      false,
    );
  }

  pod(version: number, ready: string | undefined): Pod {
    const conditions = ready === undefined ? [] : ['Ready', 'ContainersReady'].map((type) => ({ type, status: ready }));
    return {
      metadata: { name: 'p', namespace: 'n', uid: 'u', generation: 1, resourceVersion: String(version) },
      spec: { containers: [{ name: 'c', image: 'web:1' }], ...this.spec },
      status: { conditions },
    } as unknown as Pod;
  }

  async answer(version: number): Promise<void> {
    this.answers.shift()?.(version);
    await turn();
  }

  async pass(milliseconds: number): Promise<void> {
    this.timers.advance(milliseconds);
    await turn();
  }

  async see(version: number, ready: string): Promise<void> {
    this.runner.update(this.pod(version, ready));
    await turn();
  }
}

describe('PodRunner', () => {
  it('says again what somebody contradicted, even if that comes before the answer to its own write', async () => {
    const scene = new Scene();
    await turn();
    await scene.answer(2);
    await scene.see(2, 'True');
    assert.equal(scene.writes, 1);
    await scene.see(3, 'False');
    assert.equal(scene.writes, 2, 'it says that the pod is ready');
    // The status is written as version 4 and contradicted in version 5, which the node receives first.
    await scene.see(5, 'False');
    await scene.answer(4);
    assert.equal(scene.writes, 2, 'not again at once');
    await scene.pass(9_999);
    assert.equal(scene.writes, 2);
    await scene.pass(1);
    assert.equal(scene.writes, 3);
    await scene.answer(6);
    await scene.see(6, 'True');
    assert.equal(scene.writes, 3);
  });

  it('gives pods in the network of the node an address that endpoints may have', () => {
    const address = (hostIP: string, hostNetwork = true) => {
      const { podIP, hostIP: reported } = new Scene({ hostNetwork }, hostIP).runner.machine.status(0);
      assert.equal(reported, hostIP);
      return podIP;
    };
    assert.equal(address('1.1.1.1'), '1.1.1.1');
    assert.equal(address('127.0.0.1'), '10.0.0.0');
    assert.equal(address('::1'), '10.0.0.0');
    assert.equal(address('127.0.0.1', false), '10.0.0.1');
  });

  it('does not take old news for a contradiction', async () => {
    const scene = new Scene();
    await turn();
    await scene.see(3, 'False');
    await scene.answer(4);
    assert.equal(scene.writes, 1);
    await scene.see(4, 'True');
    assert.equal(scene.writes, 1);
  });
});
