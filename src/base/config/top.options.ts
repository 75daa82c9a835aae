import { Min } from 'class-validator';
import { Flag } from './flag.js';

/** How `plinth top` finds its server and shows it. */
export class TopOptions {
  @Flag({
    name: 'kubeconfig',
    type: 'string',
    unit: 'file',
    usage: 'The kubeconfig of the server, with credentials that may read /metrics there. Default: KUBECONFIG.',
  })
  readonly kubeconfig: string | undefined = undefined;

  @Flag({ name: 'interval', type: 'duration', usage: 'How often the page is refreshed; at least 200ms.' })
  @Min(200, { message: 'must be at least 200ms' })
  readonly intervalMs: number = 2000;

  @Flag({
    name: 'once',
    type: 'bool',
    usage: 'Show one page, over one interval, and end; the same happens when the output is not a terminal.',
  })
  readonly once: boolean = false;
}
