import {
  bytes,
  enumOf,
  type Infer,
  int32,
  optional,
  pointer,
  required,
  string,
  struct,
} from '../../../../base/machinery/schema/index.js';

export const serviceReference = struct('admissionregistration.v1.ServiceReference', {
  namespace: required(1, string),
  name: required(2, string),
  path: pointer(3, string),
  port: pointer(4, int32),
});
export type ServiceReference = Infer<typeof serviceReference>;

export const webhookClientConfig = struct('admissionregistration.v1.WebhookClientConfig', {
  url: pointer(3, string),
  service: pointer(1, serviceReference),
  caBundle: optional(2, bytes, { doc: "PEM certificates that the server's certificate is checked with." }),
});
export type WebhookClientConfig = Infer<typeof webhookClientConfig>;

export const sideEffectClass = enumOf('None', 'NoneOnDryRun', 'Some', 'Unknown');
export type SideEffectClass = Infer<typeof sideEffectClass>;
