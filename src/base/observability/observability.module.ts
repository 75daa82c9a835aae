import { type DynamicModule, Module } from '@nestjs/common';
import { Logger } from './logger.js';
import { Metrics, type MetricsWorker } from './metrics.js';

/** The log and the metrics of the process. */
@Module({})
export class ObservabilityModule {
  /** @param logger made before the application, because it is needed earlier */
  static of(logger: Logger, worker?: MetricsWorker): DynamicModule {
    return {
      module: ObservabilityModule,
      global: true,
      providers: [
        { provide: Logger, useValue: logger },
        { provide: Metrics, useFactory: () => new Metrics(worker) },
      ],
      exports: [Logger, Metrics],
    };
  }
}
