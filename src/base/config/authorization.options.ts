import { IsIn, Min } from 'class-validator';
import { Check } from './check.js';
import { Flag } from './flag.js';

/** The modes that decide whether a request is allowed. */
export const authorizationModes = ['AlwaysAllow', 'AlwaysDeny', 'ABAC', 'Webhook', 'RBAC', 'Node'] as const;

export type AuthorizationMode = (typeof authorizationModes)[number];

const defaultModes: readonly AuthorizationMode[] = ['AlwaysAllow'];
const webhookVersions = ['v1beta1', 'v1'] as const;

type Siblings = Readonly<Record<string, unknown>>;

/** The options that modes require. */
const neededBy: readonly (readonly [AuthorizationMode, string, string])[] = [
  ['ABAC', 'authorizationPolicyFile', 'authorization-policy-file'],
  ['Webhook', 'authorizationWebhookConfigFile', 'authorization-webhook-config-file'],
];

function modesProblem(values: readonly string[], all: Siblings): string | undefined {
  if (values.length === 0) return `needs at least one of ${authorizationModes.join(', ')}`;
  const unknown = values.filter((value) => !authorizationModes.some((mode) => mode === value));
  if (unknown.length > 0)
    return `names the unknown mode ${unknown.join(', ')}; choose from ${authorizationModes.join(', ')}`;
  if (new Set(values).size !== values.length) return 'names a mode twice';
  const [mode, , flag] =
    neededBy.find(([needing, property]) => values.includes(needing) && all[property] === undefined) ?? [];
  return mode === undefined ? undefined : `has the mode ${mode}, which needs --${flag} as well`;
}

/** `--authorization-config` takes the place of the other flags, except for the policy file of ABAC. */
function configurationProblem(_file: string, all: Siblings): string | undefined {
  const modes = all.authorizationMode as readonly string[];
  return modes.join() === defaultModes.join() && all.authorizationWebhookConfigFile === undefined
    ? undefined
    : 'names authorizers itself: leave out --authorization-mode and --authorization-webhook-*';
}

/** Refuses a file that no mode reads: the administrator would believe it to be in force. */
function onlyWith(mode: AuthorizationMode): (value: string, all: Siblings) => string | undefined {
  return (_value, all) =>
    (all.authorizationMode as readonly string[]).includes(mode) ||
    (mode === 'ABAC' && all.authorizationConfig !== undefined)
      ? undefined
      : `is only read by the mode ${mode}, which --authorization-mode does not name`;
}

/** How requests are authorized. */
export class AuthorizationOptions {
  @Flag({
    name: 'authorization-mode',
    type: 'list',
    values: authorizationModes,
    unit: 'modes',
    usage: `Ordered list of ${authorizationModes.join(', ')}; the first one to decide counts.`,
  })
  @Check('modes', modesProblem)
  readonly authorizationMode: readonly AuthorizationMode[] = defaultModes;

  @Flag({
    name: 'authorization-config',
    type: 'string',
    unit: 'file',
    usage:
      'Ordered authorizers, webhooks with conditions among them, of kind AuthorizationConfiguration. Takes the place of ' +
      '--authorization-mode and --authorization-webhook-*. Read again when it changes.',
  })
  @Check('configuration', configurationProblem)
  readonly authorizationConfig: string | undefined = undefined;

  @Flag({
    name: 'authorization-policy-file',
    type: 'string',
    unit: 'file',
    usage: 'Policies of the mode ABAC, one JSON object per line. Changes need a restart.',
  })
  @Check('policyFile', onlyWith('ABAC'))
  readonly authorizationPolicyFile: string | undefined = undefined;

  @Flag({
    name: 'authorization-webhook-config-file',
    type: 'string',
    unit: 'file',
    usage: 'Client configuration (as of kubectl) for the mode Webhook: its address and the credentials for it.',
  })
  @Check('webhookConfigFile', onlyWith('Webhook'))
  readonly authorizationWebhookConfigFile: string | undefined = undefined;

  @Flag({
    name: 'authorization-webhook-version',
    type: 'string',
    values: webhookVersions,
    usage: `Version of the SubjectAccessReview sent to the webhook: ${webhookVersions.join(' or ')}.`,
  })
  @IsIn(webhookVersions, { message: `must be one of ${webhookVersions.join(', ')}` })
  readonly authorizationWebhookVersion: (typeof webhookVersions)[number] = 'v1beta1';

  @Flag({
    name: 'authorization-webhook-cache-authorized-ttl',
    type: 'duration',
    usage: 'How long an answer of the webhook that allows is kept. 0: not at all.',
  })
  @Min(0, { message: 'must not be negative' })
  readonly authorizationWebhookCacheAuthorizedTtl: number = 300_000;

  @Flag({
    name: 'authorization-webhook-cache-unauthorized-ttl',
    type: 'duration',
    usage: 'How long any other answer of the webhook is kept. 0: not at all.',
  })
  @Min(0, { message: 'must not be negative' })
  readonly authorizationWebhookCacheUnauthorizedTtl: number = 30_000;
}
