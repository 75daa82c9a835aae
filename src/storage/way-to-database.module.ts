import { type DynamicModule, Module } from '@nestjs/common';
import type { OpenDatabase } from './postgres/postgres-storage.js';

/**
 * Injection token of the {@link OpenDatabase} of the process; undefined or missing: the process makes its own
 * connections.
 */
export const WAY_TO_DATABASE = Symbol('WayToDatabase');

/** How the store of this process reaches the database. */
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
