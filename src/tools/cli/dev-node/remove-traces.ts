import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { errorText } from '../../../base/machinery/startup-error.js';
import type { Logger } from '../../../base/observability/logger.js';
import { removeCgroup } from '../../../nodes/agent/containers/remove-cgroup.js';
import type { ContainerRuntime } from '../../../nodes/agent/cri/container-runtime.js';
import { CriRuntime } from '../../../nodes/agent/cri/cri-runtime.js';
import { noSenderRules } from '../../../nodes/agent/network/sender-rules.js';
import { removeTables } from '../../../nodes/proxy/nftables/kernel-table.js';
import { runTool } from '../../../nodes/proxy/nftables/run-program.js';
import { tableName } from '../../../nodes/proxy/nftables/table-text.js';
import { policyTableName } from '../../../nodes/proxy/policies/policy-table.js';
import { removeRoutes } from '../../../nodes/proxy/routes/kernel-routes.js';

const graceSeconds = 5;
const callMs = 30_000;
const mostRounds = 5;

/** Ends all containers of a runtime and removes them with their networks. */
export async function endContainers(endpoint: string, logger: Logger): Promise<void> {
  const runtime = await CriRuntime.open(endpoint, endpoint, callMs);
  try {
    await endAll(runtime, logger);
  } catch (error) {
    logger.warn('containers could not be ended', { error: errorText(error) });
  } finally {
    runtime.close();
  }
}

/** What {@link endAll} needs of a runtime. */
export type EndingRuntime = Pick<
  ContainerRuntime,
  'listContainers' | 'stopContainer' | 'listSandboxes' | 'stopSandbox' | 'removeSandbox'
>;

/**
 * Ends all containers and removes all sandboxes, in several rounds: a runtime finishes a sandbox that an agent has asked for even
 * if the agent has ended meanwhile.
 */
export async function endAll(runtime: EndingRuntime, logger: Logger): Promise<void> {
  for (let round = 0; round < mostRounds; round++) {
    const containers = await runtime.listContainers();
    await each(containers, logger, ({ id }) => runtime.stopContainer(id, graceSeconds));
    const sandboxes = await runtime.listSandboxes();
    if (sandboxes.length === 0) return;
    await each(sandboxes, logger, async ({ id }) => {
      await runtime.stopSandbox(id);
      await runtime.removeSandbox(id);
    });
  }
}

export interface Traces {
  /** Nothing stays mounted below. */
  readonly folder: string;
  readonly bridge: string;
  readonly cgroup: string;
}

/** Removes what a node has changed on the machine: mounts, the bridge, cgroups, rules and routes. */
export async function removeTraces({ folder, bridge, cgroup }: Traces, logger: Logger): Promise<void> {
  const steps: readonly [string, () => Promise<unknown>][] = [
    ['mounts', () => unmountAll(folder)],
    ['the bridge', () => runTool('ip', ['link', 'delete', bridge])],
    ['rules of the proxy', () => removeTables([tableName, policyTableName])],
    ['rules about senders', () => runTool('nft', ['-f', '-'], noSenderRules(bridge))],
    ['routes', () => removeRoutes()],
    ['cgroups', () => removeCgroups(cgroup)],
  ];
  for (const [what, remove] of steps) {
    await remove().catch((error: unknown) => {
      logger.warn('could not remove everything of the node from this machine', { what, error: errorText(error) });
    });
  }
}

async function each<T>(all: readonly T[], logger: Logger, work: (one: T) => Promise<unknown>): Promise<void> {
  const outcomes = await Promise.allSettled(all.map(work));
  for (const outcome of outcomes) {
    if (outcome.status === 'rejected')
      logger.warn('a container could not be removed', { error: errorText(outcome.reason) });
  }
}

async function unmountAll(folder: string): Promise<void> {
  const lines = (await readFile('/proc/self/mountinfo', 'utf8')).split('\n');
  const decode = (path: string) =>
    path.replace(/\\(\d{3})/g, (_, octal: string) => String.fromCharCode(parseInt(octal, 8)));
  const paths = lines.map((line) => decode(line.split(' ')[4] ?? '')).filter((path) => path.startsWith(`${folder}/`));
  for (const path of paths.reverse()) {
    const { code, errors } = await runTool('umount', ['-l', path]);
    if (code !== 0) throw new Error(`${path}: ${errors.trim()}`);
  }
}

async function removeCgroups(cgroup: string): Promise<void> {
  const root = '/sys/fs/cgroup';
  const hierarchies = await readdir(root, { withFileTypes: true }).catch(() => []);
  const folders = hierarchies.filter((entry) => entry.isDirectory()).map(({ name }) => join(root, name));
  for (const folder of [root, ...folders]) await removeCgroup(join(folder, cgroup));
}
