import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { defaultFeatureGates } from '../../../base/config/feature-gates.js';
import { InvariantError } from '../../../base/machinery/invariant-error.js';
import type { Change, ChangeBatch, ChangeSubscription } from '../../../storage/storage.interface.js';
import type { EndpointOptions } from '../endpoint-services.js';
import { WatchPump } from './watch-pump.js';

const change = (resourceVersion: bigint): Change => ({
  type: 'update',
  key: { resource: 'pods', namespace: 'a', name: 'n' },
  uid: 'u',
  resourceVersion,
  json: '{}',
  previousJson: '{}',
});

/** A subscription with these batches. */
function subscriptionOf(batches: readonly ChangeBatch[]): ChangeSubscription {
  const left = [...batches];
  return { next: async () => left.shift(), onFailure: () => undefined, close: () => void left.splice(0) };
}

/** Pumps a subscription to a client that has seen version 5; returns the versions that it receives. */
function pump(
  subscription: ChangeSubscription,
  shutdown = new AbortController().signal,
): { readonly sent: string[]; readonly ended: Promise<void> } {
  const sent: string[] = [];
  const options = { shutdown } as EndpointOptions;
  const services = { random: () => 0, features: defaultFeatureGates, options };
  const watch = new WatchPump(services, {
    stream: {
      isClosed: false,
      onClose: () => undefined,
      write: (bytes) => {
        sent.push(bytes.toString());
        return undefined;
      },
    },
    series: { sent: () => undefined },
    subscription,
    ending: { isAt: () => false },
    encoder: {
      encodeConverted: (changes) => Buffer.from(changes.map(({ resourceVersion }) => resourceVersion).join(' ')),
      encodeBookmark: (version) => Buffer.from(`bookmark ${version}`),
    },
    from: 5n,
    sendsBookmarks: true,
    timeoutMs: 60_000,
  });
  return { sent, ended: watch.run() };
}

describe('the pump of a watch', () => {
  it('sends changes in their order until the subscription ends', async () => {
    const { sent, ended } = pump(
      subscriptionOf([
        { changes: [change(6n), change(8n)], position: 9n },
        { changes: [], position: 9n },
        { changes: [change(10n)], position: 10n },
      ]),
    );
    await ended;
    assert.deepEqual(sent, ['6 8', '10']);
  });

  for (const [what, batch] of [
    ['a change that the client has', { changes: [change(5n)], position: 7n }],
    ['a change from before the last position', { changes: [change(9n)], position: 12n }],
    ['a position that goes back', { changes: [], position: 8n }],
  ] as const) {
    it(`ends the watch instead of sending ${what}`, async () => {
      const first = batch.changes[0]?.resourceVersion === 5n ? [] : [{ changes: [change(7n)], position: 9n }];
      const { sent, ended } = pump(subscriptionOf([...first, batch, { changes: [change(20n)], position: 20n }]));
      await assert.rejects(ended, InvariantError);
      assert.deepEqual(sent, first.length === 0 ? [] : ['7']);
    });
  }

  it('ends on a shutdown with a bookmark of the version up to which there was nothing to send', async () => {
    const shutdown = new AbortController();
    let end: (() => void) | undefined;
    let isOpen = true;
    const { sent, ended } = pump(
      {
        next: () => Promise.reject(new Error('it is followed')),
        follow: (take) => {
          void take({ changes: [change(6n)], position: 7n });
          return new Promise((resolve) => {
            end = resolve;
          });
        },
        get quietPosition() {
          return isOpen ? 12n : undefined;
        },
        onFailure: () => undefined,
        close: () => {
          isOpen = false;
          end?.();
        },
      },
      shutdown.signal,
    );
    shutdown.abort();
    await ended;
    assert.deepEqual(sent, ['6', 'bookmark 12']);
  });
});
