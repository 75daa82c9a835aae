import { Inject, Injectable, type OnApplicationBootstrap, type OnApplicationShutdown } from '@nestjs/common';
import { SecureServingOptions } from '../../base/config/secure-serving.options.js';
import { VENDOR_NAMES, type VendorNames } from '../../base/machinery/vendor.js';
import { Logger } from '../../base/observability/logger.js';
import { ensureSystemObjects } from '../../modules/core/system-objects.js';
import { ensureDefaultServiceCidr, replaceFormerServiceCidr } from '../../modules/networking/default-service-cidr.js';
import { ensureSystemPriorityClasses } from '../../modules/scheduling/system-priority-classes.js';
import { SERVICE_RANGES, type ServiceRanges } from '../../objects/registry/allocation/service-ranges.js';
import { ResourceStores } from '../../objects/registry/store/resource-stores.js';
import { StartPatience } from '../../storage/start-patience.js';
import { AuthorityPublisher } from '../authentication/request-header/authority-publisher.js';
import { TlsFiles } from '../authentication/x509/tls-files.js';
import { AUTHORIZATION, type Authorization } from '../authorization/build-authorization.js';
import { ServingState } from '../endpoints/serving-state.js';
import { SystemObjectsKeeper } from './system-objects-keeper.js';
import { ensureTokenTracking } from './token-tracking.js';

/**
 * Ensures the objects that every cluster must have. Before the first request: the namespaces, the service of the API,
 * the object for the range of service addresses, and the system's priority classes. From then on, in the background:
 * these objects again if a client has deleted them, the default access policy, and the client CA certificates whenever
 * they change.
 */
@Injectable()
export class ClusterBootstrap implements OnApplicationBootstrap, OnApplicationShutdown {
  private policy: Promise<void> | undefined;
  private readonly keeper: SystemObjectsKeeper;

  // Nest passes each dependency as a parameter; an object would need a factory with the same list.
  constructor(
    @Inject(VENDOR_NAMES) private readonly names: VendorNames,
    @Inject(ResourceStores) private readonly stores: ResourceStores,
    @Inject(SERVICE_RANGES) private readonly ranges: ServiceRanges,
    @Inject(SecureServingOptions) private readonly serving: SecureServingOptions,
    @Inject(AuthorityPublisher) private readonly authorities: AuthorityPublisher,
    @Inject(AUTHORIZATION) private readonly authorization: Authorization,
    @Inject(TlsFiles) private readonly tls: TlsFiles,
    @Inject(ServingState) private readonly state: ServingState,
    @Inject(StartPatience) private readonly patience: StartPatience,
    @Inject(Logger) logger: Logger,
  ) {
    this.keeper = new SystemObjectsKeeper(() => this.ensureObjects(), logger);
  }

  async onApplicationBootstrap(): Promise<void> {
    const { ended } = this.state;
    const { names, stores, ranges } = this;
    await this.patience.until(() => replaceFormerServiceCidr(names, stores, ranges));
    await this.patience.until(() => this.ensureObjects());
    this.keeper.start(ended);
    await this.patience.until(() => this.authorities.publish());
    this.tls.onChange(() => this.authorities.publishSoon(ended));
    this.policy = this.authorization.prepare(this.stores, ended);
  }

  async onApplicationShutdown(): Promise<void> {
    await this.policy;
    await this.authorities.stopped();
    await this.keeper.stopped();
  }

  private async ensureObjects(): Promise<void> {
    const { names, stores, ranges } = this;
    await ensureSystemObjects({ names, stores, ranges }, this.serving.securePort);
    await ensureSystemPriorityClasses(names, stores);
    await ensureDefaultServiceCidr(names, stores, ranges);
    await ensureTokenTracking(names, stores);
  }
}
