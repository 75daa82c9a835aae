import { parseCidr } from '../../../base/config/network.js';
import type { ApiObject } from '../../../base/machinery/api-object.js';
import { errorText } from '../../../base/machinery/startup-error.js';
import type { Timers } from '../../../base/machinery/timers.js';
import type { Logger } from '../../../base/observability/logger.js';
import { OutageLog } from '../../../base/observability/outage-log.js';
import type { Node } from '../../../objects/apis/core/v1/node.types.js';
import type { ApiUser } from '../../connection/api-connection.js';
import { watchObjects } from '../../connection/object-watch.js';
import type { Family } from '../rules/family.js';
import { SyncLoop } from '../sync-loop.js';
import { changeRoutes, isMasquerading, type KernelRoute, masqueradePods, readRoutes } from './kernel-routes.js';
import { type NodeRoute, nodeRoutes } from './node-routes.js';

export interface RouteKeeperDependencies {
  readonly api: ApiUser;
  readonly nodeName: string;
  /** Ranges of all pod addresses, at most one of each family. */
  readonly clusterRanges: readonly string[];
  readonly families: readonly Family[];
  /** The interval at which the routes are checked. */
  readonly periodMs: number;
  readonly timers: Timers;
  readonly logger: Logger;
}

const pauseMs = 1_000;
const keyOf = ({ range, gateway }: KernelRoute) => `${range} ${gateway}`;

/**
 * Keeps the routes to the pods of other nodes up to date with the API's nodes. The routes stay when the keeper stops.
 */
export class RouteKeeper {
  private readonly nodes = new Map<string, Node>();
  private isListed = false;
  private refused = '';
  private readonly loop: SyncLoop;
  private readonly outage: OutageLog;
  private readonly stopping = new AbortController();
  private done: Promise<unknown> = Promise.resolve();
  private onFirst: () => void = () => undefined;

  constructor(private readonly dependencies: RouteKeeperDependencies) {
    const { timers, periodMs, logger } = dependencies;
    this.outage = new OutageLog(logger, {
      failed: "routes to the pods of other nodes can't be set",
      recovered: 'routes to the pods of other nodes are set again',
    });
    // Routes that somebody else removed are restored at the next check.
    const check = async () => true;
    this.loop = new SyncLoop({ timers, minPeriodMs: pauseMs, periodMs, check, run: () => this.sync() });
  }

  /** Starts to watch the nodes. @returns a promise that resolves when all routes were set for the first time */
  start(): Promise<void> {
    const { signal } = this.stopping;
    const { nodes } = this;
    const { api, timers, logger } = this.dependencies;
    const first = new Promise<void>((resolve) => {
      this.onFirst = resolve;
    });
    const watch = watchObjects<Node & ApiObject>(
      {
        ...{ api, timers, logger, path: '/api/v1/nodes', random: Math.random, known: () => nodes.keys() },
        onObject: (node) => this.take(node),
        onGone: (uid) => {
          nodes.delete(uid);
          this.request();
        },
        onListed: () => {
          this.isListed = true;
          this.request();
        },
        onFailure: (error) => this.outage.failed({ error: errorText(error) }),
      },
      signal,
    );
    this.done = Promise.all([watch, this.loop.run(signal)]);
    return first;
  }

  async stop(): Promise<void> {
    this.stopping.abort();
    await this.done;
  }

  private take(node: Node & ApiObject): void {
    const { uid = '' } = node.metadata;
    const before = this.nodes.get(uid);
    this.nodes.set(uid, node);
    if (routeInfo(before) !== routeInfo(node)) this.request();
  }

  private request(): void {
    if (this.isListed) this.loop.request();
  }

  private async sync(): Promise<boolean> {
    if (!this.isListed) return true;
    const { nodeName, clusterRanges, families } = this.dependencies;
    const wanted = nodeRoutes(this.nodes.values(), nodeName, clusterRanges, families);
    try {
      const missing: NodeRoute[] = [];
      for (const family of families) {
        missing.push(
          ...(await this.setRoutes(
            family,
            wanted.filter((route) => route.family === family),
          )),
        );
        const range = clusterRanges.find((text) => parseCidr(text)?.family === (family === 'IPv4' ? 4 : 6));
        if (range !== undefined && !(await isMasquerading(family))) await masqueradePods(family, range);
      }
      this.report(missing);
    } catch (error) {
      this.outage.failed({ error: errorText(error) });
      return false;
    }
    this.outage.worked();
    this.onFirst();
    return true;
  }

  /** @returns the routes that the kernel refused */
  private async setRoutes(family: Family, wanted: readonly NodeRoute[]): Promise<readonly NodeRoute[]> {
    const present = new Set((await readRoutes(family)).map(keyOf));
    const keys = new Set(wanted.map(keyOf));
    const added = wanted.filter((route) => !present.has(keyOf(route)));
    const removed = [...present].filter((key) => !keys.has(key)).map(routeOf);
    if (added.length === 0 && removed.length === 0) return [];
    await changeRoutes(family, added, removed);
    const now = new Set((await readRoutes(family)).map(keyOf));
    return added.filter((route) => !now.has(keyOf(route)));
  }

  private report(missing: readonly NodeRoute[]): void {
    const refused = missing.map(({ node, gateway }) => `${node} (${gateway})`).join(', ');
    if (refused === this.refused) return;
    this.refused = refused;
    if (refused === '') return;
    const text =
      "there are no routes to the pods of some nodes: their addresses are not in a network of this machine's";
    this.dependencies.logger.warn(text, { nodes: refused });
  }
}

function routeOf(key: string): KernelRoute {
  const [range = '', gateway = ''] = key.split(' ');
  return { range, gateway };
}

/** The fields of a node that routes depend on. */
function routeInfo(node: Node | undefined): string {
  return JSON.stringify([node?.spec?.podCIDR, node?.spec?.podCIDRs, node?.status?.addresses]);
}
