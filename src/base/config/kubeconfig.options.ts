import { Min } from 'class-validator';
import { Check } from './check.js';
import { Flag } from './flag.js';

/** The shortest life of a certificate that servers issue. */
const shortestMs = 600_000;

function groupsProblem(groups: readonly string[]): string | undefined {
  if (new Set(groups).size !== groups.length || groups.includes('')) return 'has an empty or repeated group';
  return nameProblem(...groups);
}

function nameProblem(...names: readonly string[]): string | undefined {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is looked for
  return names.some((name) => /[\u0000-\u001f\u007f]/.test(name)) ? 'has a control character' : undefined;
}

/** The user of a new kubeconfig, and where the file is written. */
export class KubeconfigOptions {
  @Flag({ name: 'user', type: 'string', unit: 'name', usage: 'Name of the user that the certificate identifies.' })
  @Check<string>('user', (name) => nameProblem(name))
  readonly user: string | undefined = undefined;

  @Flag({ name: 'group', type: 'list', unit: 'names', usage: 'Groups of the user.' })
  @Check('groups', groupsProblem)
  readonly groups: readonly string[] = [];

  @Flag({
    name: 'expires',
    type: 'duration',
    usage:
      'How long the certificate is valid, at least 10m0s; the server may make it shorter. Default: as the server says.',
  })
  @Check<number>('shortest', (value) => (value >= shortestMs ? undefined : 'must be at least 10m0s'))
  readonly expiresMs: number | undefined = undefined;

  @Flag({
    name: 'output',
    short: 'o',
    type: 'string',
    unit: 'file',
    usage: 'Where to write it, readable by its owner only. Without a file it goes to standard output.',
  })
  readonly output: string | undefined = undefined;

  @Flag({
    name: 'merge',
    type: 'bool',
    usage:
      'Add cluster, user and context to the file of --output, or to that of KUBECONFIG, in place of those of the same name; ' +
      'all else in it stays. The current context changes only if there is none.',
  })
  readonly merge: boolean = false;

  @Flag({
    name: 'name',
    type: 'string',
    unit: 'name',
    usage: 'Name of the cluster in the new kubeconfig; user and context are called USER@NAME.',
  })
  @Check<string>('name', (text) => (text === '' ? 'must not be empty' : undefined))
  readonly name: string = 'plinth';

  @Flag({
    name: 'signer',
    type: 'string',
    unit: 'name',
    usage:
      'Signer of client certificates. Default: kubernetes.io/kube-apiserver-client where the namespace kube-system is there, ' +
      'otherwise k8s.io/apiserver-client.',
  })
  readonly signer: string | undefined = undefined;

  @Flag({ name: 'timeout', type: 'duration', usage: 'How long to wait for the certificate.' })
  @Min(1000, { message: 'must be at least 1s' })
  readonly timeoutMs: number = 30_000;
}
