import { ClusterOptions } from '../../../../base/config/cluster.options.js';
import { InitOptions } from '../../../../base/config/init.options.js';
import { LoggingOptions } from '../../../../base/config/logging.options.js';
import type { ParsedOptions } from '../../../../base/config/parse-options.js';
import { StorageOptions } from '../../../../base/config/storage.options.js';

export const initGroups = {
  init: InitOptions,
  storage: StorageOptions,
  cluster: ClusterOptions,
  logging: LoggingOptions,
} as const;

/** The options of `plinth init`. */
export type InitCommandOptions = ParsedOptions<typeof initGroups>;
