import { promises as fs } from 'node:fs';
import { extname, join } from 'node:path';
import { readFileIfPresent, writeFileAtomically } from '../../../base/machinery/files.js';
import { errorText } from '../../../base/machinery/startup-error.js';
import type { Logger } from '../../../base/observability/logger.js';
import type { Node } from '../../../objects/apis/core/v1/node.types.js';
import type { ContainerRuntime } from '../cri/container-runtime.js';
import { networkConfiguration, type PodNetworkOptions } from './network-configuration.js';

export interface PodNetworkDependencies {
  readonly options: PodNetworkOptions;
  /** The range of pod addresses as long as the Node object has none; empty: none. */
  readonly podCidr: string;
  readonly runtime: Pick<ContainerRuntime, 'setPodCidr'>;
  readonly logger: Logger;
  /** Called when the agent has configured the network. */
  readonly onConfigured?: () => void;
  /** Folder of the kernel's settings for bridges; default: the real one. */
  readonly bridgeSettings?: string;
}

const fileName = '10-plinth.conflist';
/** Runtimes read files with these endings. */
const endings = new Set(['.conf', '.conflist', '.json']);

/**
 * Passes the node's ranges of pod addresses to the runtime, and to a network configuration if no other program wrote
 * one.
 */
export class PodNetwork {
  private ranges = '';
  private own: readonly string[] = [];
  private work: Promise<void> = Promise.resolve();

  constructor(private readonly dependencies: PodNetworkDependencies) {}

  /** Handles a state of the Node object. A failed step is tried again with the next state. */
  seen({ spec }: Node): void {
    const { podCidr, logger } = this.dependencies;
    const own = spec?.podCIDRs ?? [];
    const ranges = own.length > 0 ? own : [spec?.podCIDR || podCidr].filter((range) => range !== '');
    const text = ranges.join(',');
    if (text === '' || text === this.ranges) return;
    this.ranges = text;
    this.work = this.work
      .then(() => this.use(ranges))
      .catch((error: unknown) => {
        this.ranges = '';
        logger.warn('the network for pods could not be set up', { ranges, error: errorText(error) });
      });
  }

  /** The ranges for which this object has configured the network; empty: another program did, or nobody yet. */
  get ownRanges(): readonly string[] {
    return this.own;
  }

  /** Resolves when all states so far have been handled. */
  stop(): Promise<void> {
    return this.work;
  }

  private async use(ranges: readonly string[]): Promise<void> {
    const { options, runtime } = this.dependencies;
    if (options.configurationFolder !== '') await this.writeConfiguration(ranges);
    await runtime.setPodCidr(ranges.join(','));
  }

  private async writeConfiguration(ranges: readonly string[]): Promise<void> {
    const { options, logger } = this.dependencies;
    const folder = options.configurationFolder;
    await fs.mkdir(folder, { recursive: true, mode: 0o755 });
    const others = (await fs.readdir(folder)).filter((name) => name !== fileName && endings.has(extname(name)));
    if (others.length > 0) {
      logger.info('pods use a network configuration of another program', { folder, files: others });
      this.own = [];
      return;
    }
    const text = `${JSON.stringify(networkConfiguration(ranges, options), undefined, 2)}\n`;
    const file = join(folder, fileName);
    if ((await readFileIfPresent(file)) !== text) {
      await writeFileAtomically(file, text, 0o644);
      logger.info('the network for pods is configured', { file, ranges });
    }
    this.own = ranges;
    this.dependencies.onConfigured?.();
    await this.showRulesBridgedPackets(ranges);
  }

  /** Otherwise packets between pods on one bridge would bypass the rules for services. */
  private async showRulesBridgedPackets(ranges: readonly string[]): Promise<void> {
    const { bridgeSettings = '/proc/sys/net/bridge', logger } = this.dependencies;
    for (const name of ranges.some((range) => range.includes(':')) ? ['iptables', 'ip6tables'] : ['iptables']) {
      const file = join(bridgeSettings, `bridge-nf-call-${name}`);
      try {
        if ((await fs.readFile(file, 'utf8')).trim() !== '1') await fs.writeFile(file, '1');
      } catch (error) {
        logger.warn(
          'pods of this node may not reach services whose endpoints are here: load the kernel module br_netfilter',
          { file, error: errorText(error) },
        );
      }
    }
  }
}
