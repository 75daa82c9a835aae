import { Min } from 'class-validator';
import { bootstrapGroupsProblem, joiningGroup } from './bootstrap-groups.js';
import { Check } from './check.js';
import { certificateKeyProblem } from './control-plane.options.js';
import { Flag } from './flag.js';
import { outputFlag } from './shared-flags.js';

const dayMs = 86_400_000;

/** What a bootstrap token may be used for, in the order in which it is shown. */
export const tokenUsages = ['authentication', 'signing'] as const;

function usagesProblem(usages: readonly string[]): string | undefined {
  const wrong = usages.find((usage) => !(tokenUsages as readonly string[]).includes(usage));
  if (wrong !== undefined) return `has ${JSON.stringify(wrong)}, which is neither ${tokenUsages.join(' nor ')}`;
  return usages.length === 0 ? `must have ${tokenUsages.join(' or ')}` : undefined;
}

/** Bootstrap tokens and how they are shown. */
export class TokenOptions {
  @Flag({
    name: 'ttl',
    type: 'duration',
    usage: 'How long a new token lives; 0: until somebody deletes it.',
  })
  @Min(0, { message: 'must not be negative' })
  readonly ttlMs: number = dayMs;

  @Flag({
    name: 'usages',
    type: 'list',
    values: tokenUsages,
    unit: 'names',
    usage: 'What a new token is for: signing of cluster-info, authentication as a bearer token.',
  })
  @Check('usages', usagesProblem)
  readonly usages: readonly string[] = Object.freeze(['signing', 'authentication']);

  @Flag({
    name: 'groups',
    type: 'list',
    unit: 'groups',
    usage: 'Groups of a user who shows a new token, besides system:bootstrappers.',
  })
  @Check('groups', bootstrapGroupsProblem)
  readonly groups: readonly string[] = Object.freeze([joiningGroup]);

  @Flag({
    name: 'description',
    type: 'string',
    unit: 'text',
    usage: 'Description of a new token, which plinth token list shows.',
  })
  readonly description: string = '';

  @Flag({
    name: 'print-join-command',
    type: 'bool',
    usage: 'Print the command with which a node joins by the new token, not the token alone.',
  })
  readonly printJoinCommand: boolean = false;

  @Flag({
    name: 'certificate-key',
    type: 'string',
    unit: 'hex',
    secret: true,
    usage: 'With --print-join-command: print that of a further control plane, with this key from plinth certs upload.',
  })
  @Check<string>('key', certificateKeyProblem)
  readonly certificateKey: string | undefined = undefined;

  @Flag({
    name: 'show-secrets',
    type: 'bool',
    usage: 'List whole tokens. Otherwise the list has their ids.',
  })
  readonly showSecrets: boolean = false;

  @Flag({ name: 'dry-run', type: 'bool', usage: 'Have the server check what would be done, and change nothing.' })
  readonly dryRun: boolean = false;

  @Flag(outputFlag(['text', 'json']))
  @Check<string>('format', (text) => (text === 'text' || text === 'json' ? undefined : 'must be text or json'))
  readonly output: string = 'text';
}
