import { Check } from './check.js';
import { Flag } from './flag.js';

const formats = ['table', 'json'];

/** How `plinth doctor` reports its findings. */
export class DoctorOptions {
  @Flag({ name: 'output', short: 'o', type: 'string', values: formats, unit: 'format', usage: 'table or json.' })
  @Check<string>('format', (text) => (formats.includes(text) ? undefined : 'must be table or json'))
  readonly output: string = 'table';
}
