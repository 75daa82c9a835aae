import { type DynamicModule, Module, type Provider } from '@nestjs/common';
import { APP_FILTER, APP_GUARD } from '@nestjs/core';
import { AdmissionOptions } from '../../base/config/admission.options.js';
import { ClusterOptions } from '../../base/config/cluster.options.js';
import { FEATURE_GATES, type FeatureGates } from '../../base/config/feature-gates.js';
import { OptionsModule } from '../../base/config/options.module.js';
import {
  AUTHORIZER,
  type AuthorizationDecision,
  type Authorizer,
  RULE_RESOLVER,
  type RuleList,
} from '../../base/machinery/authorizer.js';
import { TOKEN_ISSUER, TOKEN_REVIEWER, type TokenReviewResult } from '../../base/machinery/tokens.js';
import { VENDOR_NAMES, type VendorNames } from '../../base/machinery/vendor.js';
import type { Logger } from '../../base/observability/logger.js';
import { Metrics } from '../../base/observability/metrics.js';
import { ObservabilityModule } from '../../base/observability/observability.module.js';
import { apiGroupModules } from '../../modules/api-group-modules.js';
import { metaKinds } from '../../objects/apis/meta/v1/meta-kinds.js';
import { definitionInformerProviders } from '../../objects/custom-resources/serving/definition-informer-providers.js';
import { SERVICE_RANGES } from '../../objects/registry/allocation/service-ranges.js';
import { registryProviders } from '../../objects/registry/registry.module.js';
import { ResourceRegistry } from '../../objects/registry/resource-registry.js';
import { ResourceStores } from '../../objects/registry/store/resource-stores.js';
import { STORAGE, type Storage } from '../../storage/storage.interface.js';
import { ADMISSION_CONFIGURATION, admissionProviders } from '../admission/admission.module.js';
import { AdmissionChain } from '../admission/admission-chain.js';
import { RequestAdmission } from '../admission/request-admission.js';
import { WEBHOOK_CALL_COUNTER, type WebhookCallCounter } from '../admission/webhooks/webhook-metrics.js';
import { CatchAllController } from '../endpoints/catch-all.controller.js';
import { EndpointServices } from '../endpoints/endpoint-services.js';
import { StatusFilter } from '../endpoints/status.filter.js';
import { ForwardedGuard } from './forwarded.guard.js';
import type { LargeRequestTarget, LargeRequestThreadSettings } from './large-request-messages.js';

/** Calls a function of the process to which the thread belongs. */
export type LargeRequestCall = (
  target: LargeRequestTarget,
  method: string,
  args: readonly unknown[],
) => Promise<unknown>;

/**
 * The parts of the server that handle resource requests, in a thread. Storage, authorization and tokens are those of
 * its process, which the thread calls by messages. Requests are already authenticated.
 */
@Module({
  providers: [
    ForwardedGuard,
    { provide: APP_GUARD, useExisting: ForwardedGuard },
    { provide: APP_FILTER, useExisting: StatusFilter },
  ],
  controllers: [CatchAllController],
})
export class LargeRequestAppModule {
  static of(
    settings: LargeRequestThreadSettings,
    storage: Storage,
    call: LargeRequestCall,
    logger: Logger,
  ): DynamicModule {
    const { cluster, admission } = settings;
    return {
      module: LargeRequestAppModule,
      imports: [
        OptionsModule.of({ cluster: ClusterOptions, admission: AdmissionOptions }, { cluster, admission }),
        ObservabilityModule.of(logger),
        RemoteProcessModule.of(settings, storage, call),
        ...apiGroupModules({ imports: [] }),
      ],
    };
  }
}

/** Replaces modules of a serving process by calls to that process, and by parts of the thread itself. */
@Module({})
class RemoteProcessModule {
  static of(settings: LargeRequestThreadSettings, storage: Storage, call: LargeRequestCall): DynamicModule {
    const { issuer, maxBodyBytes, listPageSize, deleteCollectionWorkers, garbageCollector, continueKey } = settings;
    const providers: Provider[] = [
      { provide: STORAGE, useValue: storage },
      ...providersByCall(call, issuer),
      ...registryProviders,
      ...definitionInformerProviders,
      { provide: ADMISSION_CONFIGURATION, useValue: settings.admissionConfiguration },
      ...admissionProviders,
      {
        provide: EndpointServices,
        inject: [ResourceStores, VENDOR_NAMES, Metrics, FEATURE_GATES, AdmissionChain, AUTHORIZER],
        useFactory: (
          stores: ResourceStores,
          names: VendorNames,
          metrics: Metrics,
          features: FeatureGates,
          chain: AdmissionChain,
          authorizer: Authorizer,
        ) => {
          const options = {
            maxBodyBytes,
            listPageSize,
            deleteCollectionWorkers,
            garbageCollector,
            features,
            minRequestTimeoutSeconds: 0,
            maxConnectionBytesPerSecond: 0,
            shutdown: new AbortController().signal,
          };
          const services = new EndpointServices(stores, names, metrics, options, metaKinds, {
            admission: new RequestAdmission(chain, authorizer),
          });
          services.continueTokens.useKey(continueKey);
          return services;
        },
      },
      StatusFilter,
    ];
    return {
      module: RemoteProcessModule,
      global: true,
      providers,
      exports: [
        STORAGE,
        AUTHORIZER,
        RULE_RESOLVER,
        TOKEN_REVIEWER,
        TOKEN_ISSUER,
        ResourceRegistry,
        ResourceStores,
        SERVICE_RANGES,
        AdmissionChain,
        EndpointServices,
        StatusFilter,
      ],
    };
  }
}

/** Parts of the serving process that the thread uses by calling it. */
function providersByCall(call: LargeRequestCall, issuer: LargeRequestThreadSettings['issuer']): Provider[] {
  return [
    {
      provide: AUTHORIZER,
      useValue: {
        authorize: (attributes: unknown) =>
          call('authorizer', 'authorize', [attributes]) as Promise<AuthorizationDecision>,
      },
    },
    {
      provide: RULE_RESOLVER,
      useValue: {
        rulesFor: (user: unknown, namespace: string) =>
          call('rules', 'rulesFor', [user, namespace]) as Promise<RuleList>,
      },
    },
    {
      provide: TOKEN_REVIEWER,
      useValue: {
        review: (token: string, audiences: readonly string[]) =>
          call('tokens', 'review', [token, audiences]) as Promise<TokenReviewResult>,
      },
    },
    {
      provide: TOKEN_ISSUER,
      useValue: issuer && { ...issuer, issue: (request: unknown) => call('issuer', 'issue', [request]) },
    },
    {
      provide: WEBHOOK_CALL_COUNTER,
      useValue: {
        count: (counted) => void call('hookCalls', 'count', [counted]),
        countFailedOpen: (hook) => void call('hookCalls', 'countFailedOpen', [hook]),
        countConversion: (counted) => void call('hookCalls', 'countConversion', [counted]),
      } satisfies WebhookCallCounter,
    },
  ];
}
