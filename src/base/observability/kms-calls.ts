import { exponentialBuckets, Histogram, type Registry } from 'prom-client';

/** Registers the time of calls of key management services, and returns what counts one. */
export function kmsCalls(
  registry: Registry,
): (provider: string, method: string, code: string, seconds: number) => void {
  const times = new Histogram({
    name: 'apiserver_envelope_encryption_kms_operations_latency_seconds',
    help: 'Time of calls of key management services, by provider, method and code of gRPC.',
    labelNames: ['provider_name', 'method_name', 'grpc_status_code'],
    buckets: exponentialBuckets(0.0001, 2, 20),
    registers: [registry],
  });
  return (provider_name, method_name, grpc_status_code, seconds) =>
    times.observe({ provider_name, method_name, grpc_status_code }, seconds);
}
