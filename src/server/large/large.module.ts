import { type FactoryProvider, Global, Module } from '@nestjs/common';
import { AdmissionOptions } from '../../base/config/admission.options.js';
import type { AdmissionConfiguration } from '../../base/config/admission-configuration.js';
import { ApiOptions } from '../../base/config/api.options.js';
import { ClusterOptions } from '../../base/config/cluster.options.js';
import { LoggingOptions } from '../../base/config/logging.options.js';
import { AUTHORIZER, type Authorizer, RULE_RESOLVER, type RuleResolver } from '../../base/machinery/authorizer.js';
import {
  type ServiceAccountTokenIssuer,
  TOKEN_ISSUER,
  TOKEN_REVIEWER,
  type TokenReviewer,
} from '../../base/machinery/tokens.js';
import { Logger } from '../../base/observability/logger.js';
import { Metrics } from '../../base/observability/metrics.js';
import type { OtlpSettings } from '../../base/observability/otlp-tracer.js';
import { STORAGE, type Storage } from '../../storage/storage.interface.js';
import { StorageModule } from '../../storage/storage.module.js';
import { ADMISSION_CONFIGURATION, AdmissionModule } from '../admission/admission.module.js';
import { WEBHOOK_CALL_COUNTER, type WebhookCallCounter } from '../admission/webhooks/webhook-metrics.js';
import { AuthenticationModule } from '../authentication/authentication.module.js';
import { AuthorizationModule } from '../authorization/authorization.module.js';
import { LARGE_REQUESTS, type OpenLargeRequests } from '../endpoints/large-requests.interface.js';
import { listPageSize, maxBodyBytes } from '../endpoints/limits.js';
import { TRACING, TracingModule } from '../endpoints/tracing.module.js';
import { LargeRequestThread } from './large-request-thread.js';

/** Provides the {@link LargeRequests} of this process: a thread that calls parts of the process. */
const largeRequests: FactoryProvider<OpenLargeRequests> = {
  provide: LARGE_REQUESTS,
  inject: [
    ApiOptions,
    ClusterOptions,
    AdmissionOptions,
    ADMISSION_CONFIGURATION,
    LoggingOptions,
    STORAGE,
    AUTHORIZER,
    RULE_RESOLVER,
    TOKEN_REVIEWER,
    TOKEN_ISSUER,
    WEBHOOK_CALL_COUNTER,
    Logger,
    Metrics,
    TRACING,
  ],
  // Nest passes what `inject` lists as parameters.
  useFactory:
    (
      { deleteCollectionWorkers, garbageCollector }: ApiOptions,
      cluster: ClusterOptions,
      admission: AdmissionOptions,
      admissionConfiguration: AdmissionConfiguration,
      logging: LoggingOptions,
      storage: Storage,
      authorizer: Authorizer,
      rules: RuleResolver,
      tokens: TokenReviewer,
      issuer: ServiceAccountTokenIssuer | undefined,
      hookCalls: WebhookCallCounter,
      logger: Logger,
      metrics: Metrics,
      tracing: OtlpSettings | undefined,
    ): OpenLargeRequests =>
    (continueKey) => {
      const thread = new LargeRequestThread(
        {
          cluster,
          admission,
          admissionConfiguration,
          logging,
          continueKey,
          maxBodyBytes,
          listPageSize,
          deleteCollectionWorkers,
          garbageCollector,
          tracing,
          issuer: issuer && issuerInfo(issuer),
        },
        { storage, authorizer, rules, tokens, issuer, hookCalls },
        logger,
      );
      metrics.addCounts(() => thread.counts.parts);
      return thread;
    },
};

/** The static settings of an issuer. */
function issuerInfo({ audiences, maxExpirationSeconds }: ServiceAccountTokenIssuer) {
  return { audiences, ...(maxExpirationSeconds === undefined ? {} : { maxExpirationSeconds }) };
}

/**
 * Provides the thread for large requests to the endpoints. The module is global because the endpoints know only the
 * interface: the thread runs the endpoints themselves.
 */
@Global()
@Module({
  imports: [StorageModule, AuthenticationModule, AuthorizationModule, AdmissionModule, TracingModule],
  providers: [largeRequests],
  exports: [LARGE_REQUESTS],
})
export class LargeModule {}
