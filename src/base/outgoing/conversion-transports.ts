import type { WebhookTransport } from './review-client.js';

/** One call of a conversion webhook, as recorded by the metrics. */
export interface ConversionCall {
  /** Name of the definition. */
  readonly definition: string;
  readonly fromVersion: string;
  readonly toVersion: string;
  readonly seconds: number;
  /** What went wrong; undefined if nothing did. */
  readonly failure: 'call' | 'malformed_response' | 'invalid_converted_object' | undefined;
}

/** How conversion webhooks are reached, and the counter of their calls. */
export interface ConversionTransport extends WebhookTransport {
  countConversion(call: ConversionCall): void;
}

const transports = new WeakMap<object, ConversionTransport>();

/**
 * Registers how the conversion webhooks of the kinds in a registry are reached. Called once, by a process that serves
 * requests.
 */
export function useConversionTransport(registry: object, transport: ConversionTransport): void {
  transports.set(registry, transport);
}

/** The transport for the kinds in a registry; undefined in a process that serves no requests. */
export function conversionTransport(registry: object): ConversionTransport | undefined {
  return transports.get(registry);
}
