import { message, scalar, scalars, type WireReader } from '../grpc/wire.js';

/** The information that a plugin gives at its registration socket. */
export const pluginInfo = message({
  type: scalar(1, 'string'),
  name: scalar(2, 'string'),
  endpoint: scalar(3, 'string'),
  supportedVersions: scalars(4, 'string'),
});
export type PluginInfo = WireReader<typeof pluginInfo>;

export const registrationStatus = message({ pluginRegistered: scalar(1, 'bool'), error: scalar(2, 'string') });

/** Requests and responses without content. */
export const emptyMessage = message({});
