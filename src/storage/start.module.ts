import { type DynamicModule, Module } from '@nestjs/common';
import { StatusError } from '../base/machinery/status-error.js';
import { Logger } from '../base/observability/logger.js';
import { START_SIGNAL, StartPatience } from './start-patience.js';

/** Provides the {@link StartPatience} with which a starting process waits for its database. */
@Module({})
export class StartModule {
  /** @param signal ends the wait; default: nothing does */
  static of(signal: AbortSignal = new AbortController().signal): DynamicModule {
    return {
      module: StartModule,
      global: true,
      providers: [
        { provide: START_SIGNAL, useValue: signal },
        {
          provide: StartPatience,
          inject: [START_SIGNAL, Logger],
          useFactory: (given: AbortSignal, logger: Logger) => new StartPatience(given, logger, isPassing),
        },
      ],
      exports: [StartPatience],
    };
  }
}

/** Whether a store's error will pass with time, as storage errors may. */
function isPassing(error: unknown): boolean {
  return error instanceof StatusError && [503, 504].includes(error.code);
}
