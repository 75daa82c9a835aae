import type { Command } from './command.js';
import { assetsCommand } from './commands/assets.command.js';
import { backupCommand } from './commands/backup.command.js';
import { certsCommand } from './commands/certs.command.js';
import { clusterInfoCommand } from './commands/cluster-info.command.js';
import { completionCommand } from './commands/completion.command.js';
import { consoleCommand } from './commands/console.command.js';
import { controllersCommand } from './commands/controllers.command.js';
import { databaseCommand } from './commands/database.command.js';
import { devCommand } from './commands/dev.command.js';
import { dnsCommand } from './commands/dns.command.js';
import { doctorCommand } from './commands/doctor.command.js';
import { etcdCommand } from './commands/etcd.command.js';
import { fenceCommand } from './commands/fence.command.js';
import { importCommand } from './commands/import.command.js';
import { initCommand } from './commands/init.command.js';
import { joinCommand } from './commands/join.command.js';
import { kubeApiServerCommand } from './commands/kube-apiserver.command.js';
import { kubeconfigCommand } from './commands/kubeconfig.command.js';
import { migrateCommand } from './commands/migrate.command.js';
import { nodeCommand } from './commands/node.command.js';
import { nodesCommand } from './commands/nodes.command.js';
import { pkiCommand } from './commands/pki.command.js';
import { proxyCommand } from './commands/proxy.command.js';
import { pruneCommand } from './commands/prune.command.js';
import { replicaCommand } from './commands/replica.command.js';
import { resetCommand } from './commands/reset.command.js';
import { restoreCommand } from './commands/restore.command.js';
import { serveCommand } from './commands/serve.command.js';
import { sqlCommand } from './commands/sql.command.js';
import { tokenCommand } from './commands/token.command.js';
import { topCommand } from './commands/top.command.js';

/** The subcommands of the program, in the order of its help. */
export const commands: readonly Command[] = [
  devCommand,
  serveCommand,
  controllersCommand,
  nodeCommand,
  proxyCommand,
  dnsCommand,
  nodesCommand,
  initCommand,
  joinCommand,
  tokenCommand,
  certsCommand,
  resetCommand,
  databaseCommand,
  migrateCommand,
  fenceCommand,
  pkiCommand,
  kubeconfigCommand,
  clusterInfoCommand,
  topCommand,
  doctorCommand,
  consoleCommand,
  backupCommand,
  importCommand,
  restoreCommand,
  sqlCommand,
  replicaCommand,
  assetsCommand,
  pruneCommand,
  completionCommand(() => commands),
];

/** Commands that are run by the files that `plinth assets` writes, not by people. */
export const assetPrograms: readonly Command[] = [kubeApiServerCommand, etcdCommand];
