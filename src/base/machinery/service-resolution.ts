/**
 * How the service of an admission webhook or of an extension server is found
 * (`--admission-webhook-service-resolver`).
 */
export const serviceResolutions = ['endpoints', 'cluster-ip', 'none'] as const;
export type ServiceResolution = (typeof serviceResolutions)[number];
