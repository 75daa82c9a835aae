import { ApiClientOptions } from '../../../base/config/api-client.options.js';
import { ControlLoopOptions } from '../../../base/config/controllers.options.js';
import { DoctorOptions } from '../../../base/config/doctor.options.js';
import { serverOptionGroups } from '../../../base/config/server-options.js';

/** Those of the servers and control loops too: what they are started with is what has to be right. */
export const doctorGroups = {
  doctor: DoctorOptions,
  client: ApiClientOptions,
  ...serverOptionGroups,
  controllers: ControlLoopOptions,
} as const;
