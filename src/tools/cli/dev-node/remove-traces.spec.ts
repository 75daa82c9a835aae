import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Logger } from '../../../base/observability/logger.js';
import { type EndingRuntime, endAll } from './remove-traces.js';

const logger = new Logger('error', 'text', () => undefined);

/** A runtime whose sandbox `late` is finished only after the first list. */
class LateRuntime {
  readonly done: string[] = [];
  private readonly sandboxes = new Set(['early']);
  private lists = 0;

  constructor(private readonly staysUp = false) {}

  async listContainers() {
    return [];
  }

  async listSandboxes() {
    this.lists += 1;
    if (this.lists === 2) this.sandboxes.add('late');
    return [...this.sandboxes].map((id) => ({ id }));
  }

  async stopContainer() {}

  async stopSandbox(id: string) {
    this.done.push(`stop ${id}`);
  }

  async removeSandbox(id: string) {
    if (this.staysUp) throw new Error('it is busy');
    this.done.push(`remove ${id}`);
    this.sandboxes.delete(id);
  }
}

describe('endAll', () => {
  it('ends a sandbox, too, that the runtime finishes only after the first round', async () => {
    const runtime = new LateRuntime();
    await endAll(runtime as unknown as EndingRuntime, logger);
    assert.deepEqual(runtime.done, ['stop early', 'remove early', 'stop late', 'remove late']);
  });

  it('gives up after some rounds', async () => {
    const runtime = new LateRuntime(true);
    await endAll(runtime as unknown as EndingRuntime, logger);
    assert.equal(runtime.done.filter((each) => each === 'stop early').length, 5);
  });
});
