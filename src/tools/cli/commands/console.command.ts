import { readFile } from 'node:fs/promises';
import { ConsoleOptions } from '../../../base/config/console.options.js';
import { LoggingOptions } from '../../../base/config/logging.options.js';
import { parseOptions } from '../../../base/config/parse-options.js';
import { stopLimit } from '../../../base/machinery/lifecycle.js';
import { checkPortFree } from '../../../base/machinery/port-check.js';
import { StartupError } from '../../../base/machinery/startup-error.js';
import { checkFiles } from '../check-files.js';
import { type Command, openLog, parseRequest } from '../command.js';
import { usualKubeconfig } from '../usual-kubeconfig.js';

const groups = { console: ConsoleOptions, logging: LoggingOptions } as const;

export const consoleCommand: Command = {
  name: 'console',
  summary: 'Serve a web page where people can see and change a cluster, each with their own rights.',
  groups,
  defaults: {},
  async run(context) {
    const request = parseRequest(groups, {}, context);
    const parsed = parseOptions(request);
    await checkFiles(groups, parsed);
    const { tlsCertFile, tlsPrivateKeyFile, kubeconfig, sqlUrl, sqlTimeoutMs, sqlRows, ...options } = parsed.console;
    const file = kubeconfig ?? usualKubeconfig(context.environment.KUBECONFIG);
    if (file === undefined) throw new StartupError('needs --kubeconfig, or KUBECONFIG');
    const logger = openLog(request, parsed.logging);
    context.lastResort.logTo(logger);
    if (options.port !== 0) await checkPortFree(options.bindAddress, options.port, '--port');
    const tls =
      tlsCertFile === undefined || tlsPrivateKeyFile === undefined
        ? undefined
        : { cert: await readFile(tlsCertFile, 'utf8'), key: await readFile(tlsPrivateKeyFile, 'utf8') };
    const sql = sqlUrl === undefined ? undefined : { url: sqlUrl, timeoutMs: sqlTimeoutMs, rows: sqlRows };
    const { openConsole } = await import('../open-console.js');
    const running = await openConsole(file, { ...options, tls, sql, logger });
    context.print(`Console: ${running.url}`);
    await context.signals.wait();
    context.signals.endWithin(stopLimit());
    await running.stop();
  },
};
