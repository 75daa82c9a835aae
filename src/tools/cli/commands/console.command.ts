import { readFile } from 'node:fs/promises';
import { createSecureContext } from 'node:tls';
import { ConsoleOptions } from '../../../base/config/console.options.js';
import { LoggingOptions } from '../../../base/config/logging.options.js';
import { parseOptions } from '../../../base/config/parse-options.js';
import { stopLimit } from '../../../base/machinery/lifecycle.js';
import { checkPortFree } from '../../../base/machinery/port-check.js';
import { errorText, StartupError } from '../../../base/machinery/startup-error.js';
import type { ConsoleSettings } from '../../console/console-server.js';
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
    const running = await openConsole(file, { ...options, tls, sql, oidc: await oidcOf(parsed.console), logger });
    context.print(`Console: ${running.url}`);
    await context.signals.wait();
    context.signals.endWithin(stopLimit());
    await running.stop();
  },
};

async function oidcOf(options: ConsoleOptions): Promise<ConsoleSettings['oidc']> {
  const { oidcIssuerUrl, oidcClientId, oidcClientSecretFile, oidcCaFile, oidcScopes } = options;
  if (oidcIssuerUrl === undefined || oidcClientId === undefined) return undefined;
  const read = async (path: string | undefined) => (path === undefined ? undefined : await readFile(path, 'utf8'));
  const clientSecret = (await read(oidcClientSecretFile))?.trim();
  if (clientSecret === '')
    throw new StartupError(`--oidc-client-secret-file ${oidcClientSecretFile}: the file is empty`);
  const ca = await read(oidcCaFile);
  if (ca !== undefined) checkAuthorities(ca, oidcCaFile);
  return { issuerUrl: oidcIssuerUrl, clientId: oidcClientId, clientSecret, ca, scopes: oidcScopes };
}

function checkAuthorities(ca: string, file: string | undefined): void {
  try {
    if (!ca.includes('-----BEGIN CERTIFICATE-----')) throw new Error('it has no certificate in PEM');
    createSecureContext({ ca });
  } catch (error) {
    throw new StartupError(`--oidc-ca-file ${file}: ${errorText(error)}`, { cause: error });
  }
}
