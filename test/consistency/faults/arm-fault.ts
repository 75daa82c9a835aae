import { IdentityLease } from '../../../src/server/advertise/identity-lease.js';
import { ServingLeases } from '../../../src/server/advertise/serving-leases.js';
import { CachedStorage } from '../../../src/storage/cacher/cached-storage.js';
import { ChangeFeed } from '../../../src/storage/feed/change-feed.js';
import { NotifyListener } from '../../../src/storage/feed/notify-listener.js';
import { PostgresStorage } from '../../../src/storage/postgres/postgres-storage.js';
import type { WatchScope } from '../../../src/storage/storage.interface.js';
import { type FaultName, faultNames, faultVariable, workerFaultNames } from './fault-names.js';
import { FaultyReads, faultyWatch } from './faulty-reads.js';
import { hubFaults } from './hub-faults.js';

/*
 * Loaded before the server (`node --import`). Replaces methods of its storage by versions that are wrong now and then.
 * The server itself knows nothing of this.
 */

const name = process.env[faultVariable];
const known = [...faultNames, ...workerFaultNames];
const fault = known.find((one) => one === name);
if (fault === undefined) throw new Error(`${faultVariable} is none of ${known.join(', ')}`);
process.emitWarning(`this server answers wrongly on purpose: ${fault}`);

// Changes that the notification of one write has missed come with the next one. With workers, the leases of all
// processes would be written so often that a lost notification could not be noticed.
const writesNothing = { renew: async () => undefined };
Object.assign(IdentityLease.prototype, writesNothing);
Object.assign(ServingLeases.prototype, writesNothing);

let turns = 0;
/** Whether the fault strikes this time: one call in `every`. */
const strikes = (asked: FaultName, every: number): boolean => {
  if (asked !== fault) return false;
  turns += 1;
  return turns % every === 0;
};

/** Requests are answered by the cache in front of the database, or by the database when there is no cache. */
function armReads(storage: typeof CachedStorage | typeof PostgresStorage): void {
  const { create, get, list, watch } = storage.prototype;
  const wrappers = new WeakMap<object, FaultyReads>();
  const readsOf = (instance: CachedStorage | PostgresStorage): FaultyReads => {
    let reads = wrappers.get(instance);
    if (reads === undefined) {
      const right = {
        create: create.bind(instance),
        get: get.bind(instance),
        list: list.bind(instance),
        head: () => instance.head(),
      };
      reads = new FaultyReads(right, strikes);
      wrappers.set(instance, reads);
    }
    return reads;
  };
  const wrong: Pick<typeof storage.prototype, 'create' | 'get' | 'list' | 'watch'> & ThisType<CachedStorage> = {
    create(key, uid, json) {
      return readsOf(this).create(key, uid, json);
    },
    get(key, notOlderThan) {
      return readsOf(this).get(key, notOlderThan);
    },
    list(query) {
      return readsOf(this).list(query);
    },
    async watch(scope: WatchScope, from: bigint) {
      return faultyWatch(await watch.call(this, scope, from), strikes);
    },
  };
  Object.assign(storage.prototype, wrong);
}

function isWorkerFault(one: FaultName): one is (typeof workerFaultNames)[number] {
  return one in hubFaults;
}

switch (fault) {
  case 'drop-notification': {
    const heard = NotifyListener.prototype.heard;
    NotifyListener.prototype.heard = function (version) {
      if (!strikes('drop-notification', 3)) heard.call(this, version);
    };
    ChangeFeed.prototype.untilPoll = () => undefined;
    break;
  }
  case 'own-batch-gap':
    ChangeFeed.prototype.follows = () => true;
    break;
  default:
    if (isWorkerFault(fault)) hubFaults[fault](strikes);
    else armReads(process.argv.includes('--watch-cache=false') ? PostgresStorage : CachedStorage);
}
