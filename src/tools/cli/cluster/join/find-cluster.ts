import { existsSync } from 'node:fs';
import { errorText, StartupError } from '../../../../base/machinery/startup-error.js';
import { systemTimers } from '../../../../base/machinery/timers.js';
import type { VendorNames } from '../../../../base/machinery/vendor.js';
import { type ApiAccess, fixedAccess } from '../../../../base/outgoing/api-access.js';
import { ApiConnection, type ApiUser } from '../../../../nodes/connection/api-connection.js';
import { ApiError } from '../../../../nodes/connection/api-error.js';
import { possibleNames } from '../../../../nodes/connection/find-names.js';
import { accessOfFile } from '../../api-access.js';
import { pemCertificates } from '../pem-certificates.js';
import { publicKeyPin } from '../public-key-pin.js';
import { discoverCluster } from './discover-cluster.js';
import type { JoinRequest } from './join-request.js';
import { readClusterInfo } from './read-cluster-info.js';

/** A verified cluster, and the credentials for asking it for more. */
export interface FoundCluster {
  readonly access: ApiAccess;
  /** The spelling that the cluster has, if its public information was read. */
  readonly publicNamespace: string | undefined;
}

/**
 * Finds and verifies the cluster of a request.
 *
 * @param own kubeconfig that this machine has once it has joined: then the token is not needed any more
 * @throws StartupError for a cluster that can't be trusted or does not answer
 */
export async function findCluster(
  { discovery, bootstrapToken, options }: JoinRequest,
  own: string,
  print: (line: string) => void,
  signal: AbortSignal,
): Promise<FoundCluster> {
  const hasJoined = existsSync(own);
  if (hasJoined || 'file' in discovery) {
    const file = await accessOfFile(hasJoined || !('file' in discovery) ? own : discovery.file);
    const pins = options.discoveryTokenCaCertHash.map((pin) => pin.toLowerCase());
    if (hasJoined && pins.length > 0 && !authorityPins(file).some((pin) => pins.includes(pin))) {
      throw new StartupError(`this machine belongs to another cluster, ${file.server}: plinth reset ends that`);
    }
    if (hasJoined) print(`[discovery] this machine has already joined ${file.server}`);
    const isOwn = hasJoined || bootstrapToken === undefined;
    // A certificate in the file would count more than the token, so a useless token would be noticed only later.
    const tls = { ...file.tls, cert: undefined, key: undefined };
    const access = isOwn ? file : fixedAccess(file.server, tls, `Bearer ${bootstrapToken}`);
    return { access, publicNamespace: await publicNamespace(access, signal) };
  }
  const cluster = await discoverCluster(
    {
      ...discovery,
      pins: options.discoveryTokenCaCertHash.map((pin) => pin.toLowerCase()),
      timeoutMs: options.timeoutMs,
      timers: systemTimers,
      onWait: (reason) => print(`[discovery] waiting: ${reason}`),
    },
    signal,
  );
  const nothing = { cert: undefined, key: undefined, serverName: undefined, insecureSkipVerify: false };
  const tls = { ...nothing, ca: cluster.authority };
  const access = fixedAccess(cluster.server, tls, `Bearer ${bootstrapToken}`);
  return { access, publicNamespace: cluster.publicNamespace };
}

/** Asks a found cluster. @throws StartupError when it refuses the credentials or does not answer */
export async function askCluster<T>({ access }: FoundCluster, work: (api: ApiUser) => Promise<T>): Promise<T> {
  const connection = new ApiConnection(access, { userAgent: 'plinth-join' });
  try {
    return await work(connection.own());
  } catch (error) {
    if (error instanceof StartupError) throw error;
    if (error instanceof ApiError && error.status === 401) {
      throw new StartupError(
        `${access.server} refuses the token: it is unknown, has expired, or is not for authentication`,
      );
    }
    throw new StartupError(`${access.server}: ${errorText(error)}`, { cause: error });
  } finally {
    connection.stop();
  }
}

/** The names that a found cluster uses. */
export async function namesOf(found: FoundCluster, api: ApiUser, signal: AbortSignal): Promise<VendorNames> {
  const possible = await possibleNames(api, signal);
  const names = possible.find((each) => each.publicNamespace === found.publicNamespace) ?? possible.at(-1);
  if (names === undefined) throw new StartupError('the server is not a server of a cluster');
  return names;
}

/** Pins of the authorities by which nodes know a found cluster. */
export function pinsOf({ access }: FoundCluster): readonly string[] {
  return authorityPins(access);
}

function authorityPins({ tls }: ApiAccess): readonly string[] {
  return pemCertificates(tls.ca ?? '').map(publicKeyPin);
}

/** Where a server publishes the information of its cluster; undefined when it does not, or not for everybody. */
async function publicNamespace({ server, tls }: ApiAccess, signal: AbortSignal): Promise<string | undefined> {
  const { hostname, port } = new URL(server);
  const endpoint = { host: hostname.replace(/^\[(.*)\]$/, '$1'), port: Number(port || 443) };
  try {
    return (await readClusterInfo(endpoint, tls.ca, signal)).namespace;
  } catch {
    return undefined;
  }
}
