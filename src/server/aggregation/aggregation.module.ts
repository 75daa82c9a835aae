import { readFileSync } from 'node:fs';
import { Module } from '@nestjs/common';
import { AdmissionOptions } from '../../base/config/admission.options.js';
import { parseServiceAddresses } from '../../base/config/admission-webhook.options.js';
import { AggregationOptions } from '../../base/config/aggregation.options.js';
import { AuthenticationOptions } from '../../base/config/authentication.options.js';
import { CLOCK, type Clock } from '../../base/machinery/clock.js';
import { errorText, StartupError } from '../../base/machinery/startup-error.js';
import { groupName, VENDOR_NAMES, type VendorNames } from '../../base/machinery/vendor.js';
import { Logger } from '../../base/observability/logger.js';
import { Metrics } from '../../base/observability/metrics.js';
import { type ClientTls, checkClientTls } from '../../base/outgoing/client-config.js';
import { ClientConfigError } from '../../base/outgoing/client-config-error.js';
import { ClientCredentials } from '../../base/outgoing/client-credentials.js';
import { DeniedAddresses } from '../../base/outgoing/denied-addresses.js';
import { sharedServiceResolver } from '../../base/outgoing/service-resolver.js';
import { SharedListers } from '../../objects/registry/informers/shared-listers.js';
import { STORAGE, type Storage } from '../../storage/storage.interface.js';
import { StorageModule } from '../../storage/storage.module.js';
import { AdmissionModule } from '../admission/admission.module.js';
import { publishedNames } from '../authentication/request-header/published-names.js';
import { Aggregation } from './aggregation.js';
import { ApiServiceIndex } from './api-service-index.js';
import { AvailabilityMetrics } from './availability-metrics.js';
import { type IdentityNames, noNames } from './identity-fields.js';
import { knownApiService } from './known-api-service.js';
import { LocalPriorities } from './local-priorities.js';
import { PublishedIdentity } from './published-identity.js';

/** The extension servers: which group versions they serve, and how they are reached. */
@Module({
  imports: [AdmissionModule, StorageModule],
  providers: [
    {
      provide: Aggregation,
      inject: [
        VENDOR_NAMES,
        SharedListers,
        AdmissionOptions,
        AggregationOptions,
        CLOCK,
        Metrics,
        Logger,
        STORAGE,
        { token: AuthenticationOptions, optional: true },
      ],
      // Nest passes what `inject` lists as parameters.
      useFactory: (
        names: VendorNames,
        listers: SharedListers,
        admission: AdmissionOptions,
        options: AggregationOptions,
        clock: Clock,
        metrics: Metrics,
        logger: Logger,
        storage: Storage,
        authentication?: AuthenticationOptions,
      ) => buildAggregation({ names, listers, admission, options, clock, metrics, logger, storage, authentication }),
    },
  ],
  exports: [Aggregation],
})
export class AggregationModule {}

interface AggregationDependencies {
  readonly names: VendorNames;
  readonly listers: SharedListers;
  readonly admission: AdmissionOptions;
  readonly options: AggregationOptions;
  readonly clock: Clock;
  readonly metrics: Metrics;
  readonly logger: Logger;
  readonly storage: Storage;
  readonly authentication: AuthenticationOptions | undefined;
}

/** @throws StartupError when the client certificate can't be used. */
function buildAggregation(dependencies: AggregationDependencies): Aggregation {
  const { names, listers, admission, logger } = dependencies;
  const services = listers.counting(
    { group: groupName('apiregistration', names), resource: 'apiservices' },
    knownApiService,
  );
  const parts = {
    services: sharedServiceResolver(
      admission.webhookServiceResolver,
      parseServiceAddresses(admission.webhookServiceAddresses),
      listers,
      names,
    ),
    denied: new DeniedAddresses(admission.webhookDeniedCidrs),
    credentials: proxyCredentials(dependencies.options, dependencies.clock),
    identity: new PublishedIdentity({
      read: () => publishedNames(dependencies.storage, names),
      own: ownNames(dependencies.authentication),
      onFault: (error) => logger.warn('could not read which header names extension servers accept', { error }),
    }),
  };
  const index = new ApiServiceIndex(services, new LocalPriorities(names));
  new AvailabilityMetrics(dependencies.metrics.registry, () => index.remotes());
  return new Aggregation(index, parts, logger);
}

function ownNames(options: AuthenticationOptions | undefined): IdentityNames {
  if (options === undefined) return noNames;
  return {
    users: options.requestheaderUsernameHeaders,
    uids: options.requestheaderUidHeaders,
    groups: options.requestheaderGroupHeaders,
    extraPrefixes: options.requestheaderExtraHeadersPrefix,
  };
}

function proxyCredentials(options: AggregationOptions, clock: Clock): ClientCredentials {
  const { proxyClientCertFile: cert, proxyClientKeyFile: key } = options;
  const read = (path: string | undefined) => (path === undefined ? undefined : readFileSync(path, 'utf8'));
  try {
    const tls: ClientTls = {
      ca: undefined,
      cert: read(cert),
      key: read(key),
      serverName: undefined,
      insecureSkipVerify: false,
    };
    checkClientTls(tls, (problem) => new ClientConfigError(problem));
    return new ClientCredentials({ tls, auth: { kind: 'none' }, files: { cert, key } }, clock);
  } catch (error) {
    throw new StartupError(`--proxy-client-cert-file and --proxy-client-key-file: ${errorText(error)}`, {
      cause: error,
    });
  }
}
