import { resolve } from 'node:path';
import { AssetOptions } from '../../../base/config/asset.options.js';
import { EtcdOptions } from '../../../base/config/etcd.options.js';
import { IgnoredEtcdOptions } from '../../../base/config/ignored-etcd.options.js';
import { ignoredFlagsNotes } from '../../../base/config/ignored-flags.js';
import { givenFlags, parseOptions } from '../../../base/config/parse-options.js';
import { type Running, stopAll } from '../../../base/machinery/lifecycle.js';
import { makeFolder } from '../../../base/machinery/make-folder.js';
import { StartupError } from '../../../base/machinery/startup-error.js';
import { lockDirectory } from '../../local-postgres/directory-lock.js';
import { storeVersion, storeVersions } from '../assets/asset-versions.js';
import { watchParent } from '../assets/parent-watch.js';
import { usualPrefix } from '../assets/store-client.js';
import { type Command, parseRequest } from '../command.js';

const groups = { etcd: EtcdOptions, assets: AssetOptions, ignoredEtcd: IgnoredEtcdOptions } as const;

/** How long the shared Postgres stays after its last user, in milliseconds: the next suite often starts soon. */
const lingerMs = 2_000;
/** How long a stop may take, in milliseconds: longer than it takes, and less than test suites wait. */
const stopMs = 10_000;

export const etcdCommand: Command = {
  name: 'etcd',
  summary:
    'Stand in for etcd in a test suite: a database of its own, on one PostgreSQL that all suites of a user share.',
  groups,
  defaults: {},
  versions: storeVersions,
  async run(context) {
    const request = parseRequest(groups, {}, context);
    const { etcd, assets } = parseOptions(request);
    for (const note of ignoredFlagsNotes(givenFlags(request), [IgnoredEtcdOptions])) {
      process.stderr.write(`plinth: ${note}\n`);
    }
    const { signals } = context;
    const endWatch = assets.outliveParent ? () => undefined : watchParent(() => signals.abort());
    const folder = resolve(etcd.dataDir ?? `${etcd.name}.etcd`);
    makeFolder(folder, 0o700);
    const started: Running[] = [await lockDirectory(folder).then((lock) => ({ stop: () => lock.release() }))];
    try {
      const { leaseKeeper } = await import('../../local-postgres/shared/keeper-lease.js');
      const lease = await Promise.race([leaseKeeper(lingerMs), signals.wait()]);
      if (lease === undefined) return;
      started.push({ stop: () => lease.end() });
      const { folderDatabase } = await import('../../local-postgres/shared/folder-databases.js');
      const { startStoreServer } = await import('../assets/store-server.js');
      const database = inTurn((prefix: string) => folderDatabase(lease.adminUrl, folder, prefix));
      // The database is made before a server requests it, so that a fault is reported here.
      await database(usualPrefix);
      started.push(await startStoreServer({ urls: etcd.listenClientUrls, database, version: await storeVersion() }));
      const isLost = await Promise.race([signals.wait().then(() => false), lease.ended.then(() => true)]);
      if (isLost) throw new StartupError('the shared Postgres has ended');
    } finally {
      endWatch();
      signals.endWithin(stopMs);
      await stopAll(started);
    }
  },
};

/** Makes each call wait for the calls before it. */
function inTurn<A, R>(work: (argument: A) => Promise<R>): (argument: A) => Promise<R> {
  let last: Promise<unknown> = Promise.resolve();
  return (argument) => {
    const done = last.then(() => work(argument));
    last = done.catch(() => undefined);
    return done;
  };
}
