import { type DynamicModule, Module } from '@nestjs/common';
import { TlsFiles } from './tls-files.js';

/** The listener's certificates. They are read before the application exists, because its listener needs them. */
@Module({})
export class TlsModule {
  static of(tls: TlsFiles): DynamicModule {
    return { module: TlsModule, global: true, providers: [{ provide: TlsFiles, useValue: tls }], exports: [TlsFiles] };
  }
}
