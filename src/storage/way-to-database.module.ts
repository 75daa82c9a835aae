import { type DynamicModule, Module } from '@nestjs/common';
import type { OpenDatabase } from './postgres/postgres-storage.js';

/**
 * Injection token of the process's {@link OpenDatabase}; undefined or missing if the process opens its own connections.
 */
export const WAY_TO_DATABASE = Symbol('WayToDatabase');

/** Provides the way in which this process's store connects to the database. */
@Module({})
export class WayToDatabaseModule {
  static of(open: OpenDatabase | undefined): DynamicModule {
    return {
      module: WayToDatabaseModule,
      global: true,
      providers: [{ provide: WAY_TO_DATABASE, useValue: open }],
      exports: [WAY_TO_DATABASE],
    };
  }
}
