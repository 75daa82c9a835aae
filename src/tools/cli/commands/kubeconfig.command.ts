import { X509Certificate } from 'node:crypto';
import { existsSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { ApiClientOptions } from '../../../base/config/api-client.options.js';
import { KubeconfigOptions } from '../../../base/config/kubeconfig.options.js';
import { OptionsError } from '../../../base/config/options-error.js';
import { type ParsedOptions, parseOptions } from '../../../base/config/parse-options.js';
import { checkWritable, readFileIfPresent, writeFileAtomically } from '../../../base/machinery/files.js';
import { StartupError } from '../../../base/machinery/startup-error.js';
import { accessOf } from '../api-access.js';
import { checkFiles } from '../check-files.js';
import { type Command, type CommandContext, parseRequest } from '../command.js';
import { usualKubeconfig } from '../usual-kubeconfig.js';

const groups = { kubeconfig: KubeconfigOptions, client: ApiClientOptions } as const;
type Options = ParsedOptions<typeof groups>;

const secretMode = 0o600;
const connections = 2;

export const kubeconfigCommand: Command = {
  name: 'kubeconfig',
  summary:
    'Create a kubeconfig for a user, with a new client certificate signed by the cluster: kubeconfig --user NAME.',
  groups,
  defaults: {},
  async run(context) {
    const options = parseOptions(parseRequest(groups, {}, context));
    const { user, groups: of, expiresMs, signer, timeoutMs } = options.kubeconfig;
    if (user === undefined) throw new OptionsError(['needs --user NAME']);
    const file = targetOf(options, context);
    if (file !== undefined && !options.kubeconfig.merge && existsSync(file)) {
      throw new StartupError(`${file} exists: add to it by --merge, or name another file`);
    }
    await checkFiles({ client: ApiClientOptions }, options);
    // Checked first, so that no certificate is issued that can't be written.
    if (file !== undefined) await checkWritable(file);
    const { ClusterClient } = await import('../../backup/cluster/cluster-client.js');
    const { requestCertificate } = await import('../user-kubeconfig/request-certificate.js');
    const { mergeKubeconfig, userKubeconfig } = await import('../user-kubeconfig/merge-kubeconfig.js');
    const { changeKubeconfig } = await import('../user-kubeconfig/locked-file.js');
    const access = await accessOf(options.client, context.environment.KUBECONFIG);
    if (file !== undefined && options.kubeconfig.merge) {
      const none = { certificate: '', privateKey: '' };
      const config = { name: options.kubeconfig.name, user, access, client: none };
      mergeKubeconfig((await readFileIfPresent(file)) ?? '', file, config);
    }
    const { signal } = context.signals;
    const client = new ClusterClient(access, pause, connections, 'plinth-kubeconfig');
    try {
      const pair = await requestCertificate(client, { user, groups: of, expiresMs, signer, timeoutMs }, signal, pause);
      const config = { name: options.kubeconfig.name, user, access, client: pair };
      if (file === undefined) {
        process.stdout.write(userKubeconfig(config));
        return;
      }
      if (options.kubeconfig.merge) await changeKubeconfig(file, (text) => mergeKubeconfig(text, file, config));
      else await writeFileAtomically(file, userKubeconfig(config), secretMode);
      const until = new Date(new X509Certificate(pair.certificate).validTo).toISOString();
      context.print(`${file}: context ${user}@${config.name}, valid until ${until}`);
    } catch (error) {
      if (signal.aborted) throw new StartupError('stopped; nothing was written');
      throw error;
    } finally {
      client.close();
    }
  },
};

/** The file to write; undefined for standard output. */
function targetOf({ kubeconfig }: Options, { environment }: CommandContext): string | undefined {
  if (!kubeconfig.merge || kubeconfig.output !== undefined) return kubeconfig.output;
  const usual = usualKubeconfig(environment.KUBECONFIG);
  if (usual === undefined) throw new OptionsError(['--merge needs --output FILE, or KUBECONFIG']);
  return usual;
}

const pause = async (ms: number, signal: AbortSignal) => delay(ms, undefined, { signal });
