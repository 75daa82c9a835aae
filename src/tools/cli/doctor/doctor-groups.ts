import { ApiClientOptions } from '../../../base/config/api-client.options.js';
import { ControlLoopOptions } from '../../../base/config/control-loop.options.js';
import { DoctorOptions } from '../../../base/config/doctor.options.js';
import { serverOptionGroups } from '../../../base/config/server-options.js';

/** Includes the flags of the servers and control loops: the doctor checks what these would be started with. */
export const doctorGroups = {
  doctor: DoctorOptions,
  client: ApiClientOptions,
  ...serverOptionGroups,
  controllers: ControlLoopOptions,
} as const;
