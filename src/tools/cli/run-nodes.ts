import type { SimulatedNodesOptions } from '../../base/config/simulated-nodes.options.js';
import type { VendorNames } from '../../base/machinery/vendor.js';
import type { Logger } from '../../base/observability/logger.js';
import type { ApiAccess } from '../../base/outgoing/api-access.js';
import {
  type NodeServerCertificates,
  type RunningNodes,
  startSimulatedNodes,
} from '../../nodes/simulated/simulated-nodes.js';
import { startSimulatedVolumes } from '../../nodes/simulated/simulated-volumes.js';

export interface NodesToRun {
  readonly access: ApiAccess;
  readonly names: VendorNames;
  readonly logger: Logger;
  readonly options: Readonly<SimulatedNodesOptions>;
  readonly server: NodeServerCertificates;
}

/** The upstream release whose node agents the simulated ones imitate. */
const agentVersion = 'v1.37.2';

/** Starts the simulated nodes that the options request, and the provisioner of their volumes. */
export async function nodesOf(wanted: NodesToRun): Promise<Pick<RunningNodes, 'registered' | 'stop'>> {
  const nodes = await startNodes(wanted);
  const { access, names, logger, options } = wanted;
  if (!options.volumes) return nodes;
  const volumes = startSimulatedVolumes({ access, names, logger, storageClass: options.storageClass });
  return {
    registered: nodes.registered,
    stop: async () => {
      await Promise.all([volumes.stop(), nodes.stop()]);
    },
  };
}

async function startNodes({ access, names, logger, options, server }: NodesToRun): Promise<RunningNodes> {
  return startSimulatedNodes({
    access,
    names,
    logger,
    count: options.count,
    namePrefix: options.namePrefix,
    address: options.nodeAddress,
    region: options.nodeRegion,
    zones: options.nodeZones,
    capacity: {
      cpu: options.nodeCpu,
      memory: options.nodeMemory,
      'ephemeral-storage': options.nodeEphemeralStorage,
      pods: String(options.nodePods),
    },
    podCidr: options.podCidr,
    leaseMs: options.nodeLeaseMs,
    restartBackOffMs: options.restartBackOffMs,
    events: options.podEvents,
    server,
    version: agentVersion,
  });
}
