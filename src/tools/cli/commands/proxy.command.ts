import { kubeProxyConfigurationDefaults } from '../../../base/config/kube-proxy-configuration.js';
import { LoggingOptions } from '../../../base/config/logging.options.js';
import { givenText, parseOptions } from '../../../base/config/parse-options.js';
import { ProxyConntrackOptions } from '../../../base/config/proxy-conntrack.options.js';
import { ServerNamesOptions } from '../../../base/config/server-names.options.js';
import { ServiceProxyOptions } from '../../../base/config/service-proxy.options.js';
import { stopLimit } from '../../../base/machinery/lifecycle.js';
import { errorText, StartupError } from '../../../base/machinery/startup-error.js';
import { checkFiles } from '../check-files.js';
import { type Command, openLog, parseRequest } from '../command.js';
import { configurationDefaults } from '../configuration-defaults.js';

const groups = {
  serviceProxy: ServiceProxyOptions,
  proxyConntrack: ProxyConntrackOptions,
  serverNames: ServerNamesOptions,
  logging: LoggingOptions,
} as const;

export const proxyCommand: Command = {
  name: 'proxy',
  summary: 'Forward the packets of services on this machine to their endpoints: the proxy of a node.',
  groups,
  defaults: {},
  async run(context) {
    const given = parseRequest(groups, {}, context);
    const config = givenText(given, 'config');
    const ofFile = config === undefined ? {} : configurationDefaults(config, kubeProxyConfigurationDefaults);
    const request = { ...given, defaults: { ...given.defaults, ...ofFile } };
    const parsed = parseOptions(request);
    if (parsed.serviceProxy.cleanup) {
      const { removeTables } = await import('../../../nodes/proxy/nftables/kernel-table.js');
      const { tableName } = await import('../../../nodes/proxy/nftables/table-text.js');
      const { policyTableName } = await import('../../../nodes/proxy/policies/policy-table.js');
      const { removeRoutes } = await import('../../../nodes/proxy/routes/kernel-routes.js');
      await Promise.all([removeTables([tableName, policyTableName]), removeRoutes()]).catch((error: unknown) => {
        throw new StartupError(`the rules could not be removed: ${errorText(error)}`);
      });
      return;
    }
    await checkFiles(groups, parsed);
    const logger = openLog(request, parsed.logging);
    context.lastResort.logTo(logger);
    const { startProxy } = await import('../run-proxy.js');
    const { serviceProxy: options, proxyConntrack: limits, serverNames } = parsed;
    const proxy = await startProxy({ options, serverNames, limits, logger });
    void proxy.ready.then(() => {
      if (!context.signals.signal.aborted) context.print(`the services are reached on the node ${proxy.nodeName}`);
    });
    await context.signals.wait();
    context.signals.endWithin(stopLimit());
    await proxy.stop();
  },
};
