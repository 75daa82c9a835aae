import { join } from 'node:path';
import { quantityMilliValue } from '../../../base/machinery/values/quantity.js';
import type { Logger } from '../../../base/observability/logger.js';
import type { AgentOptions } from '../agent-options.js';
import { CpuManager, reservedCpus } from './cpu-manager.js';
import { CpuStateFile } from './cpu-state-file.js';
import { readCpuTopology } from './cpu-topology.js';

/**
 * The manager of processors; undefined for the policy `none`.
 *
 * @throws StartupError for settings, or a file of an earlier process, that can't work
 */
export async function openCpuManager(dependencies: {
  readonly options: AgentOptions;
  readonly logger: Logger;
}): Promise<CpuManager | undefined> {
  const { cpuManager, reserved, rootFolder } = dependencies.options;
  const file = new CpuStateFile(join(rootFolder, 'cpu_manager_state'), cpuManager.policy);
  if (cpuManager.policy === 'none') {
    // Containers with exclusive processors would keep them for ever.
    await file.read();
    return undefined;
  }
  const topology = await readCpuTopology();
  const kept = reservedCpus(topology, cpuManager.reservedCpus, quantityMilliValue(reserved.cpu ?? '0'));
  return CpuManager.open(topology, kept, file, (error) =>
    dependencies.logger.warn('could not store the processors of containers', { error }),
  );
}
