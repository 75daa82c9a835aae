import { ChangeFeed } from '../../../src/storage/feed/change-feed.js';
import { HubClient } from '../../../src/storage/hub/hub-client.js';
import { HubDatabase } from '../../../src/storage/hub/hub-database.js';
import type { HubMessage } from '../../../src/storage/hub/hub-messages.js';
import { HubReads, type Read } from '../../../src/storage/hub/hub-reads.js';
import type { Row } from '../../../src/storage/postgres/session.js';
import { GET_OBJECTS, LOG_BOUNDS } from '../../../src/storage/postgres/statements.js';
import type { WrittenBatch } from '../../../src/storage/postgres/written-batch.js';
import type { Change } from '../../../src/storage/storage.interface.js';
import type { workerFaultNames } from './fault-names.js';
import type { Strikes } from './faulty-reads.js';

/** The resources that the clients of the check write. */
const worked: readonly string[] = ['configmaps', 'ingresses.networking.k8s.io'];
/** Whether the clients have begun: a server whose start goes wrong would never become ready. */
let hasBegun = false;
/** How long an answer waits for another one that it can be swapped with, in milliseconds. */
const swapMs = 50;

/** The faults between workers and their parent. Some are built into one of the two, some into both. */
export const hubFaults: Readonly<Record<(typeof workerFaultNames)[number], (strikes: Strikes) => void>> = {
  'lost-batch': (strikes) => {
    armBatches((batch) => (hasBegun && strikes('lost-batch', 3) ? undefined : batch));
    armPolls();
    // A reader of the newest version would make up for it together with any later notification.
    armWakes();
  },
  'thin-batch': (strikes) => {
    armChanges((changes) => {
      const lost = changes.find(({ key }) => key.resource === 'configmaps' && key.namespace === 'alpha');
      return lost === undefined || !strikes('thin-batch', 10) ? changes : changes.filter((change) => change !== lost);
    });
  },
  'double-batch': (strikes) => {
    armChanges((changes) => (strikes('double-batch', 5) ? [...changes, ...changes] : changes));
  },
  'forgotten-follow': (strikes) => {
    const { follow } = HubClient.prototype;
    HubClient.prototype.follow = function (resource, isFollowed) {
      const isForgotten = isFollowed && worked.includes(resource) && strikes('forgotten-follow', 2);
      follow.call(this, resource, isFollowed && !isForgotten);
    };
    armBatches(({ newest, resources, stretch }) => ({
      newest,
      resources,
      stretch: stretch && { after: stretch.after, changes: stretch.changes },
    }));
  },
  'lost-hint': (strikes) => {
    const { send } = HubClient.prototype;
    noteBatches();
    HubClient.prototype.send = function (message) {
      if (message[0] !== 'hint' || !hasBegun || !strikes('lost-hint', 2)) send.call(this, message);
    };
    armBatches((batch) => batch);
    armPolls();
  },
  'swapped-writes': (strikes) => armWriteAnswers(strikes),
  'swapped-reads': (strikes) => {
    const { rows } = HubReads.prototype;
    let other: Promise<readonly Row[]> | undefined;
    HubReads.prototype.rows = function (read: Read) {
      const own = rows.call(this, read);
      const [resource, ...more] = read.name === GET_OBJECTS.name ? (read.values[0] as readonly string[]) : [];
      if (resource === undefined || !worked.includes(resource) || more.length > 0) return own;
      const answer = other !== undefined && strikes('swapped-reads', 3) ? other : own;
      other = own;
      return answer;
    };
  },
  'stale-head': (strikes) => {
    noteBatches();
    const { rows } = HubReads.prototype;
    let earlier: Promise<readonly Row[]> | undefined;
    HubReads.prototype.rows = function (read: Read) {
      if (read.name !== LOG_BOUNDS.name || !hasBegun) return rows.call(this, read);
      if (earlier === undefined || !strikes('stale-head', 2)) earlier = rows.call(this, read);
      return earlier;
    };
  },
};

function noteBegin({ resources }: WrittenBatch): void {
  hasBegun ||= worked.some((resource) => resources.has(resource));
}

/** Lets a parent notice as well that the clients have started. */
function noteBatches(): void {
  const { sendBatch } = HubClient.prototype;
  HubClient.prototype.sendBatch = function (batch) {
    noteBegin(batch.written);
    sendBatch.call(this, batch);
  };
}

/** Changes what a worker receives of the batches of its machine; undefined: nothing. */
function armBatches(change: (batch: WrittenBatch) => WrittenBatch | undefined): void {
  const { heard } = HubDatabase.prototype;
  HubDatabase.prototype.heard = function (written) {
    noteBegin(written);
    const batch = change(written);
    if (batch !== undefined) heard.call(this, batch);
  };
}

/** Changes the content of batches that have any. */
function armChanges(change: (changes: readonly Change[]) => readonly Change[]): void {
  armBatches((batch) => {
    const { stretch } = batch;
    return stretch === undefined ? batch : { ...batch, stretch: { ...stretch, changes: change(stretch.changes) } };
  });
}

/** Nobody polls the log. */
function armPolls(): void {
  const { untilPoll } = ChangeFeed.prototype;
  ChangeFeed.prototype.untilPoll = function () {
    return hasBegun ? undefined : untilPoll.call(this);
  };
}

/** Nothing known in the process makes it read the log. */
function armWakes(): void {
  const { wake } = ChangeFeed.prototype;
  ChangeFeed.prototype.wake = function (newest, source) {
    if (source !== 'local' || !hasBegun) wake.call(this, newest, source);
  };
}

type Written = Extract<HubMessage, readonly ['written', ...unknown[]]>;

/** Now and then an answer to a write waits for the next one to the same worker, and they are swapped. */
function armWriteAnswers(strikes: Strikes): void {
  const { send } = HubClient.prototype;
  const waiting = new WeakMap<HubClient, Written>();
  HubClient.prototype.send = function (message) {
    if (message[0] !== 'written') {
      send.call(this, message);
      return;
    }
    const held = waiting.get(this);
    if (held !== undefined) {
      waiting.delete(this);
      send.call(this, ['written', held[1], message[2]]);
      send.call(this, ['written', message[1], held[2]]);
    } else if (strikes('swapped-writes', 10)) {
      waiting.set(this, message);
      setTimeout(() => {
        // There was no other answer: the write gets its own.
        if (waiting.get(this) === message && waiting.delete(this)) send.call(this, message);
      }, swapMs);
    } else send.call(this, message);
  };
}
