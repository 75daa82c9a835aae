import { resolve } from 'node:path';
import { parseOptions } from '../../../base/config/parse-options.js';
import { releaseFlagGroups } from '../../../base/config/release-flag-groups.js';
import { type ServerOptions, serverOptionGroups } from '../../../base/config/server-options.js';
import { systemClock } from '../../../base/machinery/clock.js';
import { stopLimit } from '../../../base/machinery/lifecycle.js';
import { checkFiles } from '../check-files.js';
import { type Command, openLog, parseRequest } from '../command.js';
import { knock } from '../knock.js';
import { ensureSelfSignedServing } from '../pki/pki.js';
import { loadServing, startServing } from '../serving.js';
import { requireDatabaseUrl } from './migrate.command.js';

const groups = {
  ...serverOptionGroups,
  ignoredEveryProgram: releaseFlagGroups.ignoredEveryProgram,
  ignoredStore: releaseFlagGroups.ignoredStore,
  ignoredServe: releaseFlagGroups.ignoredServe,
  ignoredEvents: releaseFlagGroups.ignoredEvents,
  ignoredServer: releaseFlagGroups.ignoredServer,
} as const;
const defaultCertDir = '.plinth/pki';
const defaults = { 'cert-dir': defaultCertDir } as const;

export const serveCommand: Command = {
  name: 'serve',
  summary: 'Serve the API from a PostgreSQL database, which any number of processes can share.',
  groups,
  defaults,
  async run(context) {
    const request = parseRequest(groups, defaults, context);
    const parsed = parseOptions(request);
    const databaseUrl = requireDatabaseUrl(parsed.storage.databaseUrl);
    await checkFiles(serverOptionGroups, parsed);
    const logger = openLog(request, parsed.logging);
    context.lastResort.logTo(logger);
    await Promise.all([knock(databaseUrl, logger), loadServing()]);
    const { signals } = context;
    const options = {
      ...parsed,
      storage: { ...parsed.storage, databaseUrl },
      secureServing: await withServingCertificate(parsed),
    };
    const server = await startServing(options, { signal: signals.signal }).catch((error: unknown) => {
      // The process was stopped while it waited for the database.
      if (signals.signal.aborted) return undefined;
      throw error;
    });
    if (server === undefined) return;
    await context.signals.wait();
    context.signals.endWithin(stopLimit(parsed.api));
    await server.stop();
  },
};

type Parsed = Omit<ServerOptions, 'secureServing' | 'storage'> & {
  readonly secureServing: Readonly<InstanceType<typeof serverOptionGroups.secureServing>>;
};

/** The certificate of the flags, or that of the folder of certificates, made now if there is none. */
export async function withServingCertificate({
  secureServing,
  cluster,
}: Parsed): Promise<ServerOptions['secureServing']> {
  const { tlsCertFile, tlsPrivateKeyFile } = secureServing;
  if (tlsCertFile !== undefined && tlsPrivateKeyFile !== undefined) {
    return { ...secureServing, tlsCertFile, tlsPrivateKeyFile };
  }
  const files = await ensureSelfSignedServing({
    directory: resolve(secureServing.certDir ?? defaultCertDir),
    bindAddress: secureServing.bindAddress,
    serviceClusterIpRange: cluster.serviceClusterIpRange,
    clock: systemClock,
  });
  return { ...secureServing, tlsCertFile: files.certificateFile, tlsPrivateKeyFile: files.privateKeyFile };
}
