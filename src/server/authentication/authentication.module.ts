import { Inject, Module, type OnApplicationBootstrap, type OnApplicationShutdown } from '@nestjs/common';
import { AuthenticationOptions } from '../../base/config/authentication.options.js';
import { processIdentity } from '../../base/config/process-identity.js';
import { SecureServingOptions } from '../../base/config/secure-serving.options.js';
import type { ServerOptions } from '../../base/config/server-options.js';
import { CLOCK, type Clock } from '../../base/machinery/clock.js';
import { TOKEN_ISSUER, TOKEN_REVIEWER } from '../../base/machinery/tokens.js';
import { VENDOR_NAMES, type VendorNames } from '../../base/machinery/vendor.js';
import { Logger } from '../../base/observability/logger.js';
import { Metrics } from '../../base/observability/metrics.js';
import { RegistryModule } from '../../objects/registry/registry.module.js';
import { ResourceRegistry } from '../../objects/registry/resource-registry.js';
import { ResourceStores } from '../../objects/registry/store/resource-stores.js';
import { PostgresStorage } from '../../storage/postgres/postgres-storage.js';
import { StartPatience } from '../../storage/start-patience.js';
import { StorageModule } from '../../storage/storage.module.js';
import { AuthenticationMetrics } from './authentication-metrics.js';
import { AUTHENTICATOR } from './authenticator.js';
import { AUTHENTICATION, type Authentication, buildAuthentication } from './build-authentication.js';
import { AuthorityPublisher } from './request-header/authority-publisher.js';
import { hostAddress } from './service-account/host-address.js';
import { TlsFiles } from './x509/tls-files.js';

/** The configured authentication methods, with the stored objects and files that they follow. */
@Module({
  imports: [StorageModule, RegistryModule],
  providers: [
    {
      provide: AUTHENTICATION,
      inject: [
        AuthenticationOptions,
        SecureServingOptions,
        PostgresStorage,
        ResourceRegistry,
        VENDOR_NAMES,
        CLOCK,
        TlsFiles,
        Metrics,
        Logger,
        ResourceStores,
      ],
      // Nest passes what `inject` lists as parameters.
      useFactory: (
        options: AuthenticationOptions,
        { bindAddress, securePort, tlsPrivateKeyFile }: ServerOptions['secureServing'],
        storage: PostgresStorage,
        registry: ResourceRegistry,
        names: VendorNames,
        clock: Clock,
        tls: TlsFiles,
        metrics: Metrics,
        logger: Logger,
        stores: ResourceStores,
      ): Authentication =>
        buildAuthentication(options, {
          storage,
          registry,
          names,
          clock,
          logger,
          metrics: metrics.registry,
          tls,
          servingKeyFile: tlsPrivateKeyFile,
          processId: processIdentity(securePort, metrics.workerIndex),
          secrets: () => stores.named('', 'secrets'),
          keySetUrl: `https://${hostAddress(bindAddress)}:${securePort}/openid/v1/jwks`,
        }),
    },
    {
      provide: AUTHENTICATOR,
      inject: [AUTHENTICATION],
      useFactory: ({ authenticator }: Authentication) => authenticator,
    },
    { provide: TOKEN_REVIEWER, inject: [AUTHENTICATION], useFactory: ({ tokens }: Authentication) => tokens },
    { provide: TOKEN_ISSUER, inject: [AUTHENTICATION], useFactory: ({ issuer }: Authentication) => issuer },
    { provide: AuthenticationMetrics, inject: [AUTHENTICATION], useFactory: ({ metrics }: Authentication) => metrics },
    {
      provide: AuthorityPublisher,
      inject: [VENDOR_NAMES, ResourceStores, AuthenticationOptions, TlsFiles, Logger],
      useFactory: (
        names: VendorNames,
        stores: ResourceStores,
        options: AuthenticationOptions,
        tls: TlsFiles,
        logger: Logger,
      ) => new AuthorityPublisher(names, stores, options, tls, logger),
    },
  ],
  exports: [AUTHENTICATION, AUTHENTICATOR, TOKEN_REVIEWER, TOKEN_ISSUER, AuthenticationMetrics, AuthorityPublisher],
})
export class AuthenticationModule implements OnApplicationBootstrap, OnApplicationShutdown {
  constructor(
    @Inject(AUTHENTICATION) private readonly authentication: Authentication,
    @Inject(StartPatience) private readonly patience: StartPatience,
  ) {}

  async onApplicationBootstrap(): Promise<void> {
    await this.patience.until(() => this.authentication.start());
  }

  async onApplicationShutdown(): Promise<void> {
    await this.authentication.stop();
  }
}
