import { type FactoryProvider, Module } from '@nestjs/common';
import { TracingOptions } from '../../base/config/tracing.options.js';
import { readTracingConfiguration } from '../../base/config/tracing-configuration.js';
import { VENDOR_NAMES, type VendorNames } from '../../base/machinery/vendor.js';
import type { OtlpSettings } from '../../base/observability/otlp-tracer.js';
import type { RequestTracer } from '../../base/observability/trace-scope.js';
import { versionInfo } from './discovery/version-info.js';

/** Begins the traces of requests, and sends the remaining spans when it stops. */
export interface RunningTracer extends RequestTracer {
  stop(): Promise<void>;
}

/** Injection token of the {@link RunningTracer}; undefined without `--tracing-config-file`. */
export const TRACER = Symbol('Tracer');
/** Injection token of the {@link OtlpSettings} of the process; undefined without `--tracing-config-file`. */
export const TRACING = Symbol('Tracing');

/** Reads the file of `--tracing-config-file`. */
const tracingProvider: FactoryProvider<OtlpSettings | undefined> = {
  provide: TRACING,
  inject: [TracingOptions, VENDOR_NAMES],
  useFactory: ({ tracingConfigFile }: TracingOptions, names: VendorNames) =>
    tracingSettings(tracingConfigFile, names, 'apiserver'),
};

/** The tracing libraries are loaded only if they are needed. */
const tracerProvider: FactoryProvider<RunningTracer | undefined> = {
  provide: TRACER,
  inject: [TRACING],
  useFactory: openTracer,
};

/** Traces requests. The endpoints stop the tracer, after the last request. */
@Module({ providers: [tracingProvider, tracerProvider], exports: [TRACING, TRACER] })
export class TracingModule {}

/** The tracing settings of a process with this flag and name. @throws OptionsError when the file can't be used. */
export function tracingSettings(
  file: string | undefined,
  names: VendorNames,
  service: string,
): OtlpSettings | undefined {
  if (file === undefined) return undefined;
  return { ...readTracingConfiguration(file, names), service, version: versionInfo().gitVersion };
}

/** The tracer of a process. */
export async function openTracer(settings: OtlpSettings | undefined): Promise<RunningTracer | undefined> {
  if (settings === undefined) return undefined;
  const { OtlpTracer } = await import('../../base/observability/otlp-tracer.js');
  return new OtlpTracer(settings);
}
