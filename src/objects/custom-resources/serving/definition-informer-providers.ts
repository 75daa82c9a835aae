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
import { DefinitionInformer } from './definition-informer.js';

/** Registers all custom resources before the first request, and follows their definitions until the process exits. */
@Injectable()
class DefinitionInformerLifecycle implements OnApplicationBootstrap, OnApplicationShutdown {
  private readonly stopping = new AbortController();

  constructor(
    @Inject(DefinitionInformer) private readonly follower: DefinitionInformer,
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
export const definitionInformerProviders: Provider[] = [
  {
    provide: DefinitionInformer,
    inject: [ResourceStores, VENDOR_NAMES, Logger, Metrics],
    useFactory: ({ registry, storage }: ResourceStores, names: VendorNames, logger: Logger, metrics: Metrics) => {
      const definitions = { group: groupName('apiextensions', names), resource: 'customresourcedefinitions' };
      return new DefinitionInformer(registry, storage, formatGroupResource(definitions), logger, metrics.expressions);
    },
  },
  DefinitionInformerLifecycle,
];
