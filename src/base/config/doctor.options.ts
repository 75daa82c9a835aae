import { Check } from './check.js';
import { Flag } from './flag.js';
import { outputFlag } from './shared-flags.js';

const formats = ['table', 'json'] as const;

/** How `plinth doctor` reports its findings. */
export class DoctorOptions {
  @Flag(outputFlag(formats))
  @Check<string>('format', (text) => (formats.some((format) => format === text) ? undefined : 'must be table or json'))
  readonly output: string = 'table';
}
