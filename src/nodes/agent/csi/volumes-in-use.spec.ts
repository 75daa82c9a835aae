import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { ApiUser } from '../../connection/api-connection.js';
import type { CsiFolders, KeptVolume } from './csi-folders.js';
import { VolumesInUse, type VolumesInUseDependencies } from './volumes-in-use.js';

const source = { driver: 'folders.test.example', handle: 'one' };
const name = `kubernetes.io/csi/${source.driver}^${source.handle}`;
const kept: KeptVolume = {
  path: '/staged',
  data: { driverName: source.driver, volumeHandle: source.handle, attachmentID: 'attachment' },
  isBlock: false,
};

/** The volumes in use of a machine whose folders answer one after the other, when the test lets them. */
function scene() {
  const answers: ((found: KeptVolume[]) => void)[] = [];
  const sent: (string[] | null)[] = [];
  const api = {
    send: async (_method: string, _path: string, { body }: { body: { status: { volumesInUse: string[] | null } } }) => {
      sent.push(body.status.volumesInUse);
    },
  };
  const inUse = new VolumesInUse({
    api: api as unknown as ApiUser,
    nodeName: 'node',
    labelPrefix: 'kubernetes.io',
    folders: {
      ofPods: async () => [],
      staged: () => new Promise<KeptVolume[]>((resolve) => answers.push(resolve)),
    } as unknown as CsiFolders,
    logger: { debug: () => undefined } as unknown as VolumesInUseDependencies['logger'],
    signal: new AbortController().signal,
  });
  /** Lets the search that began first find these volumes. */
  const answer = async (found: KeptVolume[]) => {
    while (answers.length === 0) await new Promise((resolve) => setImmediate(resolve));
    answers.shift()?.(found);
  };
  return { inUse, sent, answer, waiting: () => answers.length };
}

describe('volumes in use', () => {
  it('are reported before a pod gets them, and no longer when no trace of them is left', async () => {
    const { inUse, sent, answer } = scene();
    await inUse.claim('pod', source);
    const released = inUse.release('pod');
    await answer([]);
    await released;
    assert.deepEqual(sent, [[name], null]);
  });

  it('stay reported while a part of them is left', async () => {
    const { inUse, sent, answer } = scene();
    await inUse.claim('pod', source);
    const released = inUse.release('pod');
    await answer([kept]);
    await released;
    assert.deepEqual(sent, [[name]]);
    const refreshed = inUse.refresh();
    await answer([]);
    await refreshed;
    assert.deepEqual(sent, [[name], null]);
  });

  it('are those of the last search, even if an earlier one takes longer', async () => {
    const { inUse, sent, answer, waiting } = scene();
    await inUse.claim('pod', source);
    // Somebody has changed the status of the node: the machine is searched, and the volume is still there.
    inUse.seen({ metadata: { name: 'node' }, status: { volumesInUse: [] } } as never);
    while (waiting() === 0) await new Promise((resolve) => setImmediate(resolve));
    const released = inUse.release('pod');
    // Searches that run at the same time both wait now.
    for (let i = 0; i < 5; i++) await new Promise((resolve) => setImmediate(resolve));
    const atOnce = waiting();
    assert.equal(atOnce, 1, 'one search at a time');
    await answer([kept]);
    await answer([]);
    await released;
    assert.deepEqual(inUse.names, []);
    assert.equal(sent.at(-1), null);
  });
});
