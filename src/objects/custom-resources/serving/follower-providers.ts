import {
  Inject,
  Injectable,
  type OnApplicationBootstrap,
  type OnApplicationShutdown,
  Optional,
  type Provider,
} from '@nestjs/common';
import { formatGroupResource } from '../../../base/machinery/group-version.js';
import { groupName, VENDOR_NAMES, type VendorNames } from '../../../base/machinery/vendor.js';
import { Logger } from '../../../base/observability/logger.js';
import { Metrics } from '../../../base/observability/metrics.js';
import { StartPatience } from '../../../storage/start-patience.js';
import { ResourceStores } from '../../registry/store/resource-stores.js';
import { DefinitionFollower } from './definition-follower.js';

/** Registers all custom resources before the first request, and follows their definitions until the process exits. */
@Injectable()
class FollowerLifecycle implements OnApplicationBootstrap, OnApplicationShutdown {
  private readonly stopping = new AbortController();

  constructor(
    @Inject(DefinitionFollower) private readonly follower: DefinitionFollower,
    @Optional() @Inject(StartPatience) private readonly patience?: StartPatience,
  ) {}

  async onApplicationBootstrap(): Promise<void> {
    const start = () => this.follower.start(this.stopping.signal);
    await (this.patience === undefined ? start() : this.patience.abortable(this.stopping, start));
  }

  async onApplicationShutdown(): Promise<void> {
    this.stopping.abort();
    await this.follower.stopped();
  }
}

/** Providers that keep the registry of a process in step with the definitions. */
export const followerProviders: Provider[] = [
  {
    provide: DefinitionFollower,
    inject: [ResourceStores, VENDOR_NAMES, Logger, Metrics],
    useFactory: ({ registry, storage }: ResourceStores, names: VendorNames, logger: Logger, metrics: Metrics) => {
      const definitions = { group: groupName('apiextensions', names), resource: 'customresourcedefinitions' };
      return new DefinitionFollower(registry, storage, formatGroupResource(definitions), logger, metrics.expressions);
    },
  },
  FollowerLifecycle,
];
