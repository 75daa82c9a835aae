import { AssetOptions } from '../../../base/config/asset.options.js';
import { AutoscalerOptions } from '../../../base/config/autoscaler.options.js';
import { ControlLoopOptions } from '../../../base/config/control-loop.options.js';
import { EtcdClientOptions } from '../../../base/config/etcd-client.options.js';
import { EventOptions } from '../../../base/config/event.options.js';
import { NodeIpamOptions } from '../../../base/config/node-ipam.options.js';
import { NodeLoopOptions } from '../../../base/config/node-loop.options.js';
import { OptionsError } from '../../../base/config/options-error.js';
import { parseOptions } from '../../../base/config/parse-options.js';
import { releaseFlagGroups } from '../../../base/config/release-flag-groups.js';
import { serverOptionGroups } from '../../../base/config/server-options.js';
import { serverVersions } from '../assets/asset-versions.js';
import { watchParent } from '../assets/parent-watch.js';
import { databaseOf } from '../assets/store-client.js';
import { checkFiles } from '../check-files.js';
import { type Command, openLog, parseRequest } from '../command.js';
import { startServing } from '../serving.js';
import { withServingCertificate } from './serve.command.js';

const groups = {
  etcdClient: EtcdClientOptions,
  assets: AssetOptions,
  ...serverOptionGroups,
  events: EventOptions,
  ignoredEveryProgram: releaseFlagGroups.ignoredEveryProgram,
  ignoredStore: releaseFlagGroups.ignoredStore,
  ignoredServer: releaseFlagGroups.ignoredServer,
} as const;
const defaults = {
  'cert-dir': '/var/run/kubernetes',
  compat: 'kubernetes',
  // By default nobody queries these databases in SQL, and without the projection the start is faster.
  'sql-projection': 'off',
} as const;

/**
 * How long a stop may take, in milliseconds: test suites wait for 20 seconds, and nobody reads connections left open at
 * their end.
 */
const stopMs = 10_000;

export const kubeApiServerCommand: Command = {
  name: 'kube-apiserver',
  summary: 'Stand in for kube-apiserver in a test suite: the API without control loops, over the database of etcd.',
  groups,
  defaults,
  versions: serverVersions,
  async run(context) {
    const request = parseRequest(groups, defaults, context);
    const { etcdClient, assets, events, ...parsed } = parseOptions(request);
    if (etcdClient.etcdServers.length === 0) throw new OptionsError(['--etcd-servers must name the store']);
    await checkFiles(serverOptionGroups, parsed);
    const { signals } = context;
    const endWatch = assets.outliveParent ? () => undefined : watchParent(() => signals.abort());
    context.lastResort.logTo(openLog(request, parsed.logging));
    const stopped = () => {
      if (!signals.signal.aborted) return false;
      endWatch();
      return true;
    };
    try {
      const databaseUrl = await databaseOf(etcdClient.etcdServers, etcdClient.etcdPrefix, signals.signal);
      const options = {
        ...parsed,
        storage: { ...parsed.storage, databaseUrl },
        secureServing: await withServingCertificate(parsed),
      };
      const server = await startServing(options, { signal: signals.signal, controllers: ownLoops(events) });
      await signals.wait();
      signals.endWithin(stopMs);
      await server.stop();
    } catch (error) {
      // The process was stopped while it waited for the store or the database.
      if (!stopped()) throw error;
    } finally {
      endWatch();
    }
  },
};

/**
 * Runs only the controllers that belong to the server itself, such as the one that establishes custom resources: test
 * suites count the objects, so no other controller may create any.
 */
function ownLoops(events: EventOptions) {
  return {
    events,
    controllers: { ...new ControlLoopOptions(), controllers: ['-*'] },
    nodeLoops: new NodeLoopOptions(),
    nodeIpam: new NodeIpamOptions(),
    autoscaler: new AutoscalerOptions(),
  };
}
