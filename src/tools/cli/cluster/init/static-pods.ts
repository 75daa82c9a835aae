import { join } from 'node:path';
import { keepFile } from '../../own-files.js';
import type { MadeHere } from '../made-here.js';
import type { InitSettings } from './init-settings.js';
import { databaseFile, type ServerCommands } from './server-commands.js';

/**
 * Writes a manifest for each server, from which a node agent runs it. The URL of the database is not in them, as mirror pods
 * show them to everybody who may read pods: the process reads it from its file.
 */
export async function writeStaticPods(
  settings: InitSettings,
  folder: string,
  commands: ServerCommands,
  made: MadeHere,
  logger: { warn(message: string, fields?: object): void },
): Promise<void> {
  await made.folder(folder, 0o755);
  const { apiserverBindPort: port } = settings.options.init;
  const probe = (path: string) => ({
    httpGet: { host: new URL(settings.localServer).hostname, path, port, scheme: 'HTTPS' },
    periodSeconds: 10,
    timeoutSeconds: 15,
    failureThreshold: 8,
  });
  const probes = { livenessProbe: probe('/livez'), readinessProbe: probe('/readyz') };
  const pods = {
    'plinth-serve': podOf(settings, 'kube-apiserver', commands.serve, probes),
    'plinth-controllers': podOf(settings, 'kube-controller-manager', commands.controllers, {}),
  };
  for (const [name, pod] of Object.entries(pods)) {
    const manifest = { apiVersion: 'v1', kind: 'Pod', metadata: { name, ...pod.metadata }, spec: pod.spec };
    const text = `${JSON.stringify(manifest, undefined, 2)}\n`;
    await keepFile(made.files, join(folder, `${name}.json`), text, logger, 0o600);
  }
}

function podOf(
  { names, configDir, options }: InitSettings,
  component: string,
  command: readonly string[],
  probes: object,
) {
  const [name = ''] = command;
  return {
    metadata: { namespace: names.systemNamespace, labels: { component, tier: 'control-plane' } },
    spec: {
      hostNetwork: true,
      priorityClassName: 'system-node-critical',
      // The files belong to root.
      securityContext: { runAsUser: 0, runAsGroup: 0, seccompProfile: { type: 'RuntimeDefault' } },
      containers: [
        {
          name,
          image: options.init.image,
          imagePullPolicy: 'IfNotPresent',
          command: ['node', `--env-file=${databaseFile(configDir)}`, '/app/bin/plinth.js', ...command],
          securityContext: { allowPrivilegeEscalation: false, capabilities: { drop: ['ALL'] } },
          ...probes,
          volumeMounts: [{ name: 'settings', mountPath: configDir, readOnly: true }],
        },
      ],
      volumes: [{ name: 'settings', hostPath: { path: configDir, type: 'Directory' } }],
    },
  };
}
