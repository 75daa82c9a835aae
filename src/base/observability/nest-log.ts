import type { LoggerService } from '@nestjs/common';
import type { Logger } from './logger.js';

/**
 * Forwards the messages of Nest to the program's log: errors of hooks when an application stops, which Nest reports
 * nowhere else.
 */
export class NestLog implements LoggerService {
  constructor(private readonly logger: Pick<Logger, 'debug' | 'warn' | 'error'>) {}

  log(message: unknown): void {
    this.logger.debug(String(message));
  }

  warn(message: unknown): void {
    this.logger.warn(String(message));
  }

  error(message: unknown): void {
    if (message instanceof Error) this.logger.error('fault in the application', { error: message });
    else this.logger.error(String(message));
  }
}
