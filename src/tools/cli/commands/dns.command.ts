import { LoggingOptions } from '../../../base/config/logging.options.js';
import { NameServerOptions } from '../../../base/config/name-server.options.js';
import { parseOptions } from '../../../base/config/parse-options.js';
import { ServerNamesOptions } from '../../../base/config/server-names.options.js';
import { stopLimit } from '../../../base/machinery/lifecycle.js';
import { StartupError } from '../../../base/machinery/startup-error.js';
import { vendorNames } from '../../../base/machinery/vendor.js';
import { accessOfFile } from '../api-access.js';
import { checkFiles } from '../check-files.js';
import { type Command, openLog, parseRequest } from '../command.js';

const groups = { nameServer: NameServerOptions, serverNames: ServerNamesOptions, logging: LoggingOptions } as const;

export const dnsCommand: Command = {
  name: 'dns',
  summary: 'Answer queries for the names of services and pods: the name server of a cluster.',
  groups,
  defaults: {},
  async run(context) {
    const request = parseRequest(groups, {}, context);
    const { nameServer: options, serverNames, logging } = parseOptions(request);
    await checkFiles(groups, { nameServer: options, serverNames, logging });
    const logger = openLog(request, logging);
    context.lastResort.logTo(logger);
    if (options.kubeconfig === undefined) throw new StartupError('give a --kubeconfig');
    const access = await accessOfFile(options.kubeconfig);
    const { startDns } = await import('../run-dns.js');
    const names = vendorNames(serverNames.vendor, serverNames.compat);
    const dns = await startDns({ options, access, names, logger });
    void dns.ready.then(() => {
      if (!context.signals.signal.aborted) context.print(`names are answered on port ${dns.port}`);
    });
    await context.signals.wait();
    context.signals.endWithin(stopLimit());
    await dns.stop();
  },
};
